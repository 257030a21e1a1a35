//! Numbers that copies share.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A list of numbers whose copies and beginnings share one place in memory, so that a table of any size
/// is in memory once. It reads and writes as a slice; the first write to a shared one copies it.
///
/// ```
/// use lawful::Numbers;
/// let all = Numbers::from(vec![1.0, 2.0, 3.0]);
/// let mut first = all.clone();
/// first.truncate(2);
/// assert_eq!(first, [1.0, 2.0]);
/// first[0] = 5.0;
/// assert_eq!(all, [1.0, 2.0, 3.0]);
/// ```
#[derive(Clone, Default)]
pub struct Numbers {
    all: Arc<Vec<f64>>,
    /// How many of them, from the first.
    len: usize,
}

impl Numbers {
    /// Keeps the first `len` numbers, or all if there are fewer.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Returns them as a slice.
    pub fn as_slice(&self) -> &[f64] {
        self
    }

    /// Returns whether two lists are in one place in memory.
    pub fn shares(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all)
    }
}

impl From<Vec<f64>> for Numbers {
    fn from(numbers: Vec<f64>) -> Self {
        let len = numbers.len();
        Self { all: Arc::new(numbers), len }
    }
}

impl From<Numbers> for Vec<f64> {
    fn from(numbers: Numbers) -> Self {
        numbers.to_vec()
    }
}

impl FromIterator<f64> for Numbers {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        numbers.into_iter().collect::<Vec<_>>().into()
    }
}

impl Deref for Numbers {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.all[..self.len]
    }
}

impl DerefMut for Numbers {
    fn deref_mut(&mut self) -> &mut [f64] {
        if Arc::get_mut(&mut self.all).is_none() {
            self.all = Arc::new(self.all[..self.len].to_vec());
        }
        &mut Arc::make_mut(&mut self.all)[..self.len]
    }
}

impl IntoIterator for Numbers {
    type Item = f64;
    type IntoIter = std::vec::IntoIter<f64>;

    fn into_iter(self) -> Self::IntoIter {
        Vec::from(self).into_iter()
    }
}

impl<'a> IntoIterator for &'a Numbers {
    type Item = &'a f64;
    type IntoIter = std::slice::Iter<'a, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Numbers {
    type Item = &'a mut f64;
    type IntoIter = std::slice::IterMut<'a, f64>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: AsRef<[f64]> + ?Sized> PartialEq<T> for Numbers {
    fn eq(&self, other: &T) -> bool {
        **self == *other.as_ref()
    }
}

impl AsRef<[f64]> for Numbers {
    fn as_ref(&self) -> &[f64] {
        self
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_share_their_numbers_until_one_is_written() {
        let all = Numbers::from(vec![1.0, 2.0, 3.0]);
        let mut copy = all.clone();
        copy.truncate(2);
        copy.truncate(9);
        assert!(copy.shares(&all));
        assert_eq!((&copy[..], copy.len()), (&[1.0, 2.0][..], 2));
        copy[1] = 7.0;
        assert!(!copy.shares(&all));
        assert_eq!((all, copy), (vec![1.0, 2.0, 3.0].into(), vec![1.0, 7.0].into()));
    }

    #[test]
    fn the_only_copy_is_written_where_it_is() {
        let mut numbers = Numbers::from(vec![1.0, f64::NAN]);
        let place = numbers.as_ptr();
        numbers.iter_mut().for_each(|x| *x += 1.0);
        assert_eq!((numbers.as_ptr(), numbers[0]), (place, 2.0));
        assert_ne!(numbers, numbers, "as with slices, NaN is not itself");
    }
}
