//! Numbers in a zip: little-endian, one behind the other. And its times, which are those of DOS.

/// Puts numbers one behind the other.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) Vec<u8>);

impl Fields {
    pub(super) fn u16(mut self, value: u16) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn u32(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn u64(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn bytes(mut self, value: &[u8]) -> Self {
        self.0.extend_from_slice(value);
        self
    }
}

/// Takes numbers off the front. Behind the end there are none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(front)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }
}

/// Date and time of DOS, for readers that know no other: two-second steps from 1980 to 2107, here without a zone.
pub(super) fn dos(seconds: i64) -> (u16, u16) {
    let days = seconds.div_euclid(86_400);
    let rest = u16::try_from(seconds.rem_euclid(86_400) / 2).unwrap_or(0);
    let (year, month, day) = civil(days);
    if !(1980..=2107).contains(&year) {
        return (0, 0x21);
    }
    let (hour, minute, half) = (rest / 1800, rest / 30 % 60, rest % 30);
    let years = u16::try_from(year - 1980).unwrap_or(0);
    (hour << 11 | minute << 5 | half, years << 9 | month << 5 | day)
}

/// Seconds since 1970 of date and time of DOS, taken as UTC.
pub(super) fn from_dos(time: u16, date: u16) -> i64 {
    let (year, month, day) =
        (i64::from(date >> 9) + 1980, i64::from(date >> 5 & 15).max(1), i64::from(date & 31).max(1));
    let shifted = if month <= 2 { year - 1 } else { year };
    let (era, month) = (shifted.div_euclid(400), (month + 9) % 12);
    let year = shifted - era * 400;
    let days = era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - 719_468;
    days * 86_400 + i64::from(time >> 11) * 3600 + i64::from(time >> 5 & 63) * 60 + i64::from(time & 31) * 2
}

/// Year, month and day of a day since 1970 (Howard Hinnant's `civil_from_days`).
fn civil(days: i64) -> (i64, u16, u16) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let small = |value: i64| u16::try_from(value).unwrap_or(1);
    (year, small(month), small(day - (153 * shifted + 2) / 5 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dos_times_go_both_ways() {
        for seconds in [315_532_800, 951_782_400, 1_709_164_800, 1_800_000_002, 4_354_819_198] {
            let (time, date) = dos(seconds);
            assert_eq!(from_dos(time, date), seconds);
        }
    }
}
