//! What the processor has.

/// Whether vectors of 64 bytes have masks. Processors that have the later parts of AVX-512 do not
/// slow down when they use it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_masks() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx512f")
        && has!("avx512vl")
        && has!("avx512bw")
        && has!("avx512dq")
        && has!("avx512vbmi2")
        && has!("bmi2")
}
