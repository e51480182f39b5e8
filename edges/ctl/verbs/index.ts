// Every verb, one line each, in the order of help. Adding one is one file and one line.
import type { VerbGroup } from "../program.ts";
import { authEnrolTotp } from "./auth-enrol-totp.ts";
import { authLogin } from "./auth-login.ts";
import { authLogout } from "./auth-logout.ts";
import { authRevokeSessions } from "./auth-revoke-sessions.ts";
import { authRotateKeys } from "./auth-rotate-keys.ts";
import { authTokensIssue } from "./auth-tokens-issue.ts";
import { authTokensList } from "./auth-tokens-list.ts";
import { authTokensRevoke } from "./auth-tokens-revoke.ts";
import { authTokensRotate } from "./auth-tokens-rotate.ts";
import { authWhoami } from "./auth-whoami.ts";
import { completion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { down } from "./down.ts";
import { help } from "./help.ts";
import { operationsAuditConsistency } from "./operations-audit-consistency.ts";
import { operationsAuditErase } from "./operations-audit-erase.ts";
import { operationsAuditExport } from "./operations-audit-export.ts";
import { operationsAuditFsck } from "./operations-audit-fsck.ts";
import { operationsAuditKeyRevoke } from "./operations-audit-key-revoke.ts";
import { operationsAuditKeyRotate } from "./operations-audit-key-rotate.ts";
import { operationsAuditProof } from "./operations-audit-proof.ts";
import { operationsAuditShow } from "./operations-audit-show.ts";
import { operationsAuditStatus } from "./operations-audit-status.ts";
import { operationsAuditTail } from "./operations-audit-tail.ts";
import { operationsAuditVerify } from "./operations-audit-verify.ts";
import { operationsAuditWitness } from "./operations-audit-witness.ts";
import { riskengineEnvelopeDiff } from "./riskengine-envelope-diff.ts";
import { riskengineEnvelopeHistory } from "./riskengine-envelope-history.ts";
import { riskengineEnvelopeReplay } from "./riskengine-envelope-replay.ts";
import { riskengineEnvelopeSet } from "./riskengine-envelope-set.ts";
import { riskengineEnvelopeShow } from "./riskengine-envelope-show.ts";
import { riskengineHeadroom } from "./riskengine-headroom.ts";
import { riskengineRejectionsList } from "./riskengine-rejections-list.ts";
import { riskengineThrottleRelease } from "./riskengine-throttle-release.ts";
import { treasuryFundsList } from "./treasury-funds-list.ts";
import { treasuryInstrumentsList } from "./treasury-instruments-list.ts";
import { treasuryReferenceSet } from "./treasury-reference-set.ts";
import { treasuryReferenceShow } from "./treasury-reference-show.ts";
import { up } from "./up.ts";
import type { Verb } from "./verb.ts";
import { why } from "./why.ts";

export const verbs: readonly Verb[] = [
  up,
  down,
  doctor,
  authLogin,
  authWhoami,
  authLogout,
  authEnrolTotp,
  authTokensList,
  authTokensIssue,
  authTokensRotate,
  authTokensRevoke,
  authRevokeSessions,
  authRotateKeys,
  why,
  riskengineEnvelopeShow,
  riskengineEnvelopeSet,
  riskengineEnvelopeDiff,
  riskengineEnvelopeHistory,
  riskengineEnvelopeReplay,
  riskengineHeadroom,
  riskengineThrottleRelease,
  riskengineRejectionsList,
  treasuryFundsList,
  treasuryInstrumentsList,
  treasuryReferenceShow,
  treasuryReferenceSet,
  operationsAuditShow,
  operationsAuditTail,
  operationsAuditVerify,
  operationsAuditWitness,
  operationsAuditStatus,
  operationsAuditFsck,
  operationsAuditProof,
  operationsAuditConsistency,
  operationsAuditExport,
  operationsAuditKeyRotate,
  operationsAuditKeyRevoke,
  operationsAuditErase,
  completion,
  help,
];

/** The words that only group verbs. */
export const groups: Readonly<Record<string, VerbGroup>> = {
  auth: { heading: "Who you are", sentence: "Log in and out, second factor, tokens of machines." },
  "auth tokens": { heading: "Administration", sentence: "Tokens of machines: list, issue, rotate, revoke." },
  riskengine: { heading: "Risk", sentence: "Limits, denied orders and what may still be traded." },
  "riskengine envelope": { heading: "Limits", sentence: "A fund's limits: show, set, diff, history, replay." },
  "riskengine rejections": { heading: "Decisions", sentence: "Orders that were denied." },
  "riskengine throttle": { heading: "Limits", sentence: "What stops a strategy that repeats itself." },
  treasury: { heading: "Funds", sentence: "Funds, instruments and reference data." },
  "treasury funds": { heading: "Funds", sentence: "The funds and what they are worth." },
  "treasury instruments": { heading: "Reference data", sentence: "What may be traded." },
  "treasury reference": { heading: "Reference data", sentence: "Reference data by kind: show, set." },
  operations: { heading: "The record", sentence: "What happened, and the proof of it." },
  "operations audit": { heading: "The record", sentence: "The audit chain: show, follow, verify, prove, export." },
  "operations audit key": { heading: "The key", sentence: "The key that signs its checkpoints: rotate, revoke." },
};
