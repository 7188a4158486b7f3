//! The system call filter. It refuses calls that commands do not need or that would bypass the other restrictions.

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use super::{InStep, StepError};
use crate::confinement_plan::{ConfinementPlan, Isolation, NetworkAccess};

/// Refused with any arguments.
const REFUSED_CALLS: &[libc::c_long] = &[
    // Other processes' memory.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // The file tree and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // Parts of the kernel that many exploits used.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_vhangup,
];

/// Allowed socket families.
const SOCKET_FAMILIES: &[libc::c_int] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// Inserts text into a terminal as if it had been typed.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

pub(super) fn restrict(plan: &ConfinementPlan) -> Result<(), StepError> {
    let problem = |error: seccompiler::Error| io::Error::other(error.to_string());
    let wrong = |error: seccompiler::BackendError| io::Error::other(error.to_string());
    let filters = [refused_calls(plan).map_err(wrong), hide_clone3().map_err(wrong)];
    for filter in filters.into_iter().chain([Ok(refuse_x32())]) {
        let filter = filter.in_step("making the system call filter")?;
        if !filter.is_empty() {
            seccompiler::apply_filter(&filter).map_err(problem).in_step("setting the system call filter")?;
        }
    }
    Ok(())
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: TargetArch = TargetArch::riscv64;

type FilterResult = Result<BpfProgram, seccompiler::BackendError>;

fn refused_calls(plan: &ConfinementPlan) -> FilterResult {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED_CALLS.iter().map(|call| (*call, vec![])).collect();
    // Without a network namespace a socket could reach the host's network and the sockets of its services.
    let enclosed = plan.isolation == Isolation::Namespaces || plan.network == NetworkAccess::All;
    let families: &[libc::c_int] = if enclosed { SOCKET_FAMILIES } else { &[] };
    rules.insert(libc::SYS_socket, other_families(families)?);
    let terminal = |request| SeccompRule::new(vec![equals(1, request)?]);
    rules.insert(libc::SYS_ioctl, vec![terminal(TIOCSTI)?, terminal(TIOCLINUX)?]);
    let new_user = libc::CLONE_NEWUSER as u64;
    let masked =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(new_user), new_user)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![masked])?]);
    filter(rules, libc::EPERM)
}

/// A rule that matches if the first argument is none of these.
fn other_families(families: &[libc::c_int]) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    if families.is_empty() {
        return Ok(Vec::new());
    }
    let differs = |family: &libc::c_int| {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, *family as u64)
    };
    let conditions: Result<Vec<_>, _> = families.iter().map(differs).collect();
    Ok(vec![SeccompRule::new(conditions?)?])
}

fn equals(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// A filter cannot read the arguments of `clone3`. Programs use `clone` if `clone3` does not exist.
fn hide_clone3() -> FilterResult {
    filter(BTreeMap::from([(libc::SYS_clone3, vec![])]), libc::ENOSYS)
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: libc::c_int) -> FilterResult {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, ARCHITECTURE)?.try_into()
}

/// On x86-64 the calls have a second set of numbers (x32), which the filters above do not cover.
fn refuse_x32() -> BpfProgram {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    const SECOND_SET: u32 = 0x4000_0000;
    const ALLOW: u32 = 0x7fff_0000;
    const FAIL: u32 = 0x0005_0000;
    let step = |code, jt, jf, k| seccompiler::sock_filter { code, jt, jf, k };
    vec![
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_IF_AT_LEAST, 0, 1, SECOND_SET),
        step(RETURN, 0, 0, FAIL | libc::ENOSYS.unsigned_abs()),
        step(RETURN, 0, 0, ALLOW),
    ]
}
