// What a verifier says when it says no: one code of docs/audit-format.md, where, what it expected and what it found.

export type AuditFaultCode =
  | "HASH_MISMATCH"
  | "LINK_MISMATCH"
  | "SEQUENCE_MISMATCH"
  | "ENTRY_MALFORMED"
  | "TIME_BACKWARDS"
  | "GENESIS_MISMATCH"
  | "TRUNCATED"
  | "ROOT_MISMATCH"
  | "CHECKPOINT_MALFORMED"
  | "SIGNATURE_INVALID"
  | "KEY_OUT_OF_FORCE"
  | "HANDOVER_INVALID"
  | "WITNESSES_MISSING"
  | "PROOF_INVALID"
  | "BUNDLE_MALFORMED"
  | "INDEX_MISMATCH";

export interface AuditFault {
  readonly code: AuditFaultCode;
  /** The entry; for what is wrong with a checkpoint, its size. */
  readonly sequence: number;
  readonly expected: string;
  readonly actual: string;
}

export interface Refused {
  readonly fault: AuditFault;
}

export function refused(code: AuditFaultCode, sequence: number, expected: string, actual: string): Refused {
  return { fault: { code, sequence, expected, actual } };
}
