//! Right-hand sides: known rates, hybrids of known rates and a network, and their description.

mod conserving;
mod constant;
mod description;
mod formula;
mod guaranteed;
mod hybrid;
mod initialise;
mod linear;
mod smooth;
mod varying;

pub use conserving::ConservingField;
pub use constant::{LearnedConstant, extend_rows};
pub use description::{
    ConservingDescription, Constant, FieldDescription, FieldError, FieldPart, KnownDescription,
    MOST_EFFECTS, NetworkDescription,
};
pub use formula::FormulaField;
pub use guaranteed::{GuaranteedLaws, StateOff};
pub use hybrid::{HybridField, KnownRates, with_learned_as_variables};
pub use initialise::Initialise;
pub use linear::{
    BoundDescription, Coordinate, Coordinates, Coverage, Direction, FlowDescription, Guaranteed,
    LinearDescription, LinearField, LinearForm, LinearTask, LogRange, NotLinear, StateDescription,
    SumDescription, SumForm, WrongLinear,
};
pub use smooth::{
    NotSmooth, SmoothDescription, SmoothField, SmoothLaw, SmoothLaws, dissipation, smooth_equality,
};
