//! The laws of a training, with the vocabulary in which they are written.

use lawful_law::{Enforcement, Law, LawError, Vocabulary, Words};

use crate::{Dataset, FieldError, LearnedConstant, with_learned_as_variables};

/// Laws, and the vocabulary in which they are written.
///
/// ```
/// use lawful::{Dataset, Laws};
/// let data = Dataset::single(&["x", "v"], vec![0.0, 1.0], vec![1.0, 0.0, 0.5, -0.5])?;
/// let laws = Laws::parse(&data, ["next(x^2 + v^2) <= x^2 + v^2"])?;
/// assert_eq!(laws.laws()[0].name(), "next(x^2 + v^2) <= x^2 + v^2");
///
/// let words = Laws::words(&data).define("E", "x^2/2 + v^2/2").check()?;
/// let laws = Laws::new(words).law("energy never rises", "next(E) <= E")?;
/// assert_eq!(laws.laws()[0].name(), "energy never rises");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Laws {
    vocabulary: Vocabulary,
    constants: Vec<LearnedConstant>,
    /// The vocabulary in which learned constants are variables.
    reading: Vocabulary,
    list: Vec<Law>,
    /// For each law, whether a training may choose how it is enforced.
    open: Vec<bool>,
    /// Number of laws that the last text has added: those of a chain.
    newest: usize,
}

impl Laws {
    /// Creates an empty set of laws with this vocabulary.
    pub fn new(vocabulary: Vocabulary) -> Self {
        let reading = vocabulary.clone();
        Self {
            vocabulary,
            constants: Vec::new(),
            reading,
            list: Vec::new(),
            open: Vec::new(),
            newest: 0,
        }
    }

    /// Creates an empty set of laws with this vocabulary, of which some constants are learned.
    ///
    /// # Errors
    /// If a learned constant is not one of the vocabulary's, or starts outside its bounds.
    pub fn with_learned(
        vocabulary: Vocabulary,
        constants: Vec<LearnedConstant>,
    ) -> Result<Self, FieldError> {
        if let Some(constant) = constants.iter().find(|constant| !constant.starts_inside()) {
            let reason = "does not start inside its bounds";
            return Err(FieldError::Constant { name: constant.name.clone(), reason });
        }
        let reading = with_learned_as_variables(&vocabulary, &constants)?;
        Ok(Self { vocabulary, constants, reading, list: Vec::new(), open: Vec::new(), newest: 0 })
    }

    /// Returns the names of the state variables and inputs of these data, to which constants and
    /// definitions can be added.
    pub fn words(data: &Dataset) -> Words {
        Words::new().state(data.state()).inputs(data.inputs())
    }

    /// Reads laws in the names of these data.
    ///
    /// # Errors
    /// If a text cannot be read as a law.
    pub fn parse<'t>(
        data: &Dataset,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, LawError> {
        let laws = Self::new(Self::words(data).check()?);
        texts.into_iter().try_fold(laws, |laws, text| laws.law(text, text))
    }

    /// Adds a law; a chain such as `0 <= S <= 1` is one for each of its relations. A training chooses how
    /// it is enforced, see [`Training::auto_strategy`](crate::Training::auto_strategy).
    ///
    /// # Errors
    /// If the text cannot be read as a law.
    pub fn law(self, name: &str, holds: &str) -> Result<Self, LawError> {
        self.add(name, holds, Enforcement::Penalty, true)
    }

    /// Adds a law with this enforcement.
    ///
    /// # Errors
    /// If the text cannot be read as a law.
    pub fn enforced(
        self,
        name: &str,
        holds: &str,
        enforcement: Enforcement,
    ) -> Result<Self, LawError> {
        self.add(name, holds, enforcement, false)
    }

    fn add(
        mut self,
        name: &str,
        holds: &str,
        enforcement: Enforcement,
        open: bool,
    ) -> Result<Self, LawError> {
        // Parsed twice, so that messages do not list learned constants as variables.
        Law::parse(name, holds, &self.vocabulary)?;
        let read = Law::parse(name, holds, &self.reading)?;
        self.newest = read.len();
        self.list.extend(read.into_iter().map(|law| law.enforced(enforcement)));
        self.open.resize(self.list.len(), open);
        Ok(self)
    }

    /// Returns for each law whether a training may choose how it is enforced.
    pub(crate) fn open(&self) -> &[bool] {
        &self.open
    }

    /// Sets the weight of the law that was added last, above 0: training multiplies its residuals by it, with
    /// every strategy. What is reported does not depend on it.
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Self {
        let kept = self.list.len() - self.newest;
        for law in self.list.split_off(kept) {
            self.list.push(law.weighted(weight));
        }
        self
    }

    /// Sets the violation above which the law that was added last counts as broken, in its own units. The
    /// default is [`LAW_TOLERANCE`](crate::LAW_TOLERANCE) of its size.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        let kept = self.list.len() - self.newest;
        for law in self.list.split_off(kept) {
            self.list.push(law.tolerating(Some(tolerance)));
        }
        self
    }

    /// Returns the laws; a chain is split into its relations.
    pub fn laws(&self) -> &[Law] {
        &self.list
    }

    /// Returns the vocabulary; learned constants have their initial values.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the learned constants.
    pub fn constants(&self) -> &[LearnedConstant] {
        &self.constants
    }
}
