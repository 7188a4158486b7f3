//! Exact arithmetic with checked overflow: integers, decimals and fractions.

use std::fmt;

/// In lowest terms, with a denominator above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fraction {
    numerator: i128,
    denominator: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FractionError {
    DivisionByZero,
    /// The numbers get too large.
    Overflow,
}

type Outcome = Result<Fraction, FractionError>;

impl Fraction {
    fn new(numerator: i128, denominator: i128) -> Outcome {
        if denominator == 0 {
            return Err(FractionError::DivisionByZero);
        }
        // The smallest number has no opposite and cannot be reduced.
        if numerator == i128::MIN || denominator == i128::MIN {
            return Err(FractionError::Overflow);
        }
        let divisor = greatest_common_divisor(numerator, denominator) * denominator.signum();
        Ok(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// Digits with at most one decimal point.
    pub(super) fn parse(digits: &str) -> Outcome {
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        let mut numerator: i128 = 0;
        for digit in whole.chars().chain(decimals.chars()).filter_map(|digit| digit.to_digit(10)) {
            numerator =
                checked(numerator.checked_mul(10).and_then(|number| number.checked_add(digit.into())))?;
        }
        let places = u32::try_from(decimals.len()).map_err(|_| FractionError::Overflow)?;
        Self::new(numerator, checked(10_i128.checked_pow(places))?)
    }

    pub(super) fn add(self, other: Self) -> Outcome {
        let left = checked(self.numerator.checked_mul(other.denominator))?;
        let right = checked(other.numerator.checked_mul(self.denominator))?;
        Self::new(
            checked(left.checked_add(right))?,
            checked(self.denominator.checked_mul(other.denominator))?,
        )
    }

    pub(super) fn subtract(self, other: Self) -> Outcome {
        self.add(other.negated())
    }

    pub(super) fn multiply(self, other: Self) -> Outcome {
        Self::new(
            checked(self.numerator.checked_mul(other.numerator))?,
            checked(self.denominator.checked_mul(other.denominator))?,
        )
    }

    pub(super) fn divide(self, other: Self) -> Outcome {
        if other.numerator == 0 {
            return Err(FractionError::DivisionByZero);
        }
        self.multiply(Self::new(other.denominator, other.numerator)?)
    }

    pub(super) fn negated(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    /// All digits after the point, if there are few enough.
    fn decimals(self) -> Option<String> {
        let mut rest = (self.numerator % self.denominator).abs();
        let mut digits = String::new();
        while rest != 0 {
            if digits.len() == 18 {
                return None;
            }
            rest = rest.checked_mul(10)?;
            digits.push_str(&(rest / self.denominator).to_string());
            rest %= self.denominator;
        }
        Some(digits)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { numerator, denominator } = self;
        let sign = if *numerator < 0 { "-" } else { "" };
        let whole = (numerator / denominator).abs();
        match self.decimals() {
            Some(digits) if digits.is_empty() => write!(formatter, "{sign}{whole}"),
            Some(digits) => write!(formatter, "{sign}{whole}.{digits}"),
            None => write!(
                formatter,
                "{numerator}/{denominator}, about {:.6}",
                *numerator as f64 / *denominator as f64
            ),
        }
    }
}

fn checked(number: Option<i128>) -> Result<i128, FractionError> {
    number.ok_or(FractionError::Overflow)
}

fn greatest_common_divisor(left: i128, right: i128) -> i128 {
    let (mut left, mut right) = (left.abs(), right.abs());
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
