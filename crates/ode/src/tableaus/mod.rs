//! The tableaus of explicit Runge–Kutta methods, one constant per file, and the list of all.

mod bosh3;
mod dopri5;
mod euler;
mod heun;
mod midpoint;
mod rk4;
mod rk4_38;
mod tsit5;

pub use bosh3::BOSH3;
pub use dopri5::DOPRI5;
pub use euler::EULER;
pub use heun::HEUN;
pub use midpoint::MIDPOINT;
pub use rk4::RK4;
pub use rk4_38::RK4_38;
pub use tsit5::TSIT5;

use crate::tableau::Tableau;

/// All tableaus: the names in configuration files, the list in help texts, the loop of the tests.
pub const TABLEAUS: &[&Tableau] =
    &[&EULER, &MIDPOINT, &HEUN, &RK4, &RK4_38, &BOSH3, &DOPRI5, &TSIT5];

impl Tableau {
    /// Returns the tableau with this name in configuration files.
    ///
    /// ```
    /// use lawful_ode::Tableau;
    /// assert_eq!(Tableau::from_name("rk4-38").map(|tableau| tableau.order), Some(4));
    /// assert_eq!(Tableau::from_name("rk5"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<&'static Self> {
        TABLEAUS.iter().copied().find(|tableau| tableau.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tableau_is_found_by_its_name_and_names_differ() {
        for tableau in TABLEAUS {
            assert_eq!(Tableau::from_name(tableau.name), Some(*tableau));
        }
    }
}
