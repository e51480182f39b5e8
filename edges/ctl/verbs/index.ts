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
import { cmdCancelAll } from "./cmd-cancel-all.ts";
import { cmdFlattenPaper } from "./cmd-flatten-paper.ts";
import { cmdHalt } from "./cmd-halt.ts";
import { cmdRestartAll } from "./cmd-restart-all.ts";
import { cmdResume } from "./cmd-resume.ts";
import { completion } from "./completion.ts";
import { doctor } from "./doctor.ts";
import { down } from "./down.ts";
import { help } from "./help.ts";
import { ls } from "./ls.ts";
import { omsFillsList } from "./oms-fills-list.ts";
import { omsOrdersCancel } from "./oms-orders-cancel.ts";
import { omsOrdersList } from "./oms-orders-list.ts";
import { omsOrdersShow } from "./oms-orders-show.ts";
import { omsOrdersSubmit } from "./oms-orders-submit.ts";
import { omsPositionsList } from "./oms-positions-list.ts";
import { operationsAuditBeginAnew } from "./operations-audit-begin-anew.ts";
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
import { operationsDrillsList } from "./operations-drills-list.ts";
import { operationsDrillsRun } from "./operations-drills-run.ts";
import { operationsParkedDiscard } from "./operations-parked-discard.ts";
import { operationsParkedList } from "./operations-parked-list.ts";
import { operationsParkedRetry } from "./operations-parked-retry.ts";
import { paperWeatherSet } from "./paper-weather-set.ts";
import { paperWeatherShow } from "./paper-weather-show.ts";
import { researchBacktestShow } from "./research-backtest-show.ts";
import { researchStrategiesList } from "./research-strategies-list.ts";
import { researchStrategiesSet } from "./research-strategies-set.ts";
import { riskengineApprovalsList } from "./riskengine-approvals-list.ts";
import { riskengineApprovalsRelease } from "./riskengine-approvals-release.ts";
import { riskengineBlocksList } from "./riskengine-blocks-list.ts";
import { riskengineBooks } from "./riskengine-books.ts";
import { riskengineDifferencesList } from "./riskengine-differences-list.ts";
import { riskengineEnvelopeDiff } from "./riskengine-envelope-diff.ts";
import { riskengineEnvelopeHistory } from "./riskengine-envelope-history.ts";
import { riskengineEnvelopeReplay } from "./riskengine-envelope-replay.ts";
import { riskengineEnvelopeSet } from "./riskengine-envelope-set.ts";
import { riskengineEnvelopeShow } from "./riskengine-envelope-show.ts";
import { riskengineFlatProve } from "./riskengine-flat-prove.ts";
import { riskengineHaltsList } from "./riskengine-halts-list.ts";
import { riskengineHeadroom } from "./riskengine-headroom.ts";
import { riskengineLossesList } from "./riskengine-losses-list.ts";
import { riskengineReconcile } from "./riskengine-reconcile.ts";
import { riskengineRejectionsList } from "./riskengine-rejections-list.ts";
import { riskengineStopsEnd } from "./riskengine-stops-end.ts";
import { riskengineStopsList } from "./riskengine-stops-list.ts";
import { riskengineThrottleRelease } from "./riskengine-throttle-release.ts";
import { treasuryCorporateActionBook } from "./treasury-corporate-action-book.ts";
import { treasuryFlowBook } from "./treasury-flow-book.ts";
import { treasuryFundsList } from "./treasury-funds-list.ts";
import { treasuryInstrumentsList } from "./treasury-instruments-list.ts";
import { treasuryLedgerList } from "./treasury-ledger-list.ts";
import { treasuryNavsList } from "./treasury-navs-list.ts";
import { treasuryRebuild } from "./treasury-rebuild.ts";
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
  cmdHalt,
  cmdResume,
  cmdCancelAll,
  cmdFlattenPaper,
  cmdRestartAll,
  riskengineHaltsList,
  riskengineLossesList,
  operationsDrillsRun,
  operationsParkedList,
  operationsParkedRetry,
  operationsParkedDiscard,
  operationsDrillsList,
  why,
  ls,
  omsPositionsList,
  omsOrdersList,
  omsOrdersShow,
  omsOrdersSubmit,
  omsOrdersCancel,
  omsFillsList,
  riskengineEnvelopeShow,
  riskengineEnvelopeSet,
  riskengineEnvelopeDiff,
  riskengineEnvelopeHistory,
  riskengineEnvelopeReplay,
  riskengineHeadroom,
  riskengineThrottleRelease,
  riskengineApprovalsList,
  riskengineApprovalsRelease,
  riskengineRejectionsList,
  riskengineBlocksList,
  riskengineStopsList,
  riskengineStopsEnd,
  riskengineReconcile,
  riskengineFlatProve,
  riskengineDifferencesList,
  riskengineBooks,
  treasuryFundsList,
  treasuryNavsList,
  treasuryLedgerList,
  treasuryFlowBook,
  treasuryCorporateActionBook,
  treasuryRebuild,
  treasuryInstrumentsList,
  treasuryReferenceShow,
  treasuryReferenceSet,
  researchStrategiesList,
  researchStrategiesSet,
  researchBacktestShow,
  paperWeatherShow,
  paperWeatherSet,
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
  operationsAuditBeginAnew,
  completion,
  help,
];

/** The words that only group verbs. */
export const groups: Readonly<Record<string, VerbGroup>> = {
  auth: { heading: "Who you are", sentence: "Log in and out, second factor, tokens of machines." },
  "auth tokens": { heading: "Administration", sentence: "Tokens of machines: list, issue, rotate, revoke." },
  cmd: { heading: "Halts", sentence: "Stop, resume, cancel, flatten, restart: what an operator does in an emergency." },
  oms: { heading: "Trading", sentence: "Orders, trades and positions." },
  "oms positions": { heading: "Positions", sentence: "What a fund holds." },
  "oms orders": { heading: "Orders", sentence: "Orders: list, show, submit, cancel." },
  "oms fills": { heading: "Orders", sentence: "Trades." },
  riskengine: { heading: "Risk", sentence: "Limits, denied orders, stops, and whether the books agree." },
  "riskengine halts": { heading: "Halts", sentence: "What is halted, and what is still to be done about it." },
  "riskengine blocks": { heading: "Decisions", sentence: "Standing conditions that deny new risk." },
  "riskengine losses": { heading: "Halts", sentence: "Losses against their limits." },
  "riskengine stops": { heading: "Stops", sentence: "Synthetic stops: list, end." },
  "riskengine flat": { heading: "Books", sentence: "Whether a fund is flat at the broker, recorded." },
  "riskengine differences": { heading: "Books", sentence: "Where our positions and the broker's differ." },
  "riskengine envelope": { heading: "Limits", sentence: "A fund's limits: show, set, diff, history, replay." },
  "riskengine rejections": { heading: "Decisions", sentence: "Orders that were denied." },
  "riskengine approvals": { heading: "Decisions", sentence: "What is reserved, order by order: list, release." },
  "riskengine throttle": { heading: "Limits", sentence: "What stops a strategy that repeats itself." },
  treasury: { heading: "Funds", sentence: "Funds, their value and cash, instruments and reference data." },
  "treasury navs": { heading: "Funds", sentence: "What a fund was worth over time." },
  "treasury ledger": { heading: "Funds", sentence: "A fund's cash ledger." },
  "treasury flow": { heading: "Funds", sentence: "Money put in or taken out." },
  "treasury corporate-action": {
    heading: "Funds",
    sentence: "What companies do with their shares: dividends, splits, other symbols.",
  },
  "treasury funds": { heading: "Funds", sentence: "The funds and what they are worth." },
  "treasury instruments": { heading: "Reference data", sentence: "What may be traded." },
  "treasury reference": { heading: "Reference data", sentence: "Reference data by kind: show, set." },
  research: { heading: "Trading", sentence: "Strategies and their backtests." },
  "research strategies": { heading: "Strategies", sentence: "Strategies: list, set." },
  "research backtest": { heading: "Strategies", sentence: "How a strategy would have done." },
  paper: { heading: "Drills", sentence: "The paper broker and the paper market." },
  "paper weather": { heading: "Drills", sentence: "What they are made to suffer: show, set." },
  operations: { heading: "The record", sentence: "What happened, and the proof of it." },
  "operations drills": { heading: "Drills", sentence: "Halt drills: run, list." },
  "operations parked": {
    heading: "Events put aside",
    sentence: "Events that a subscription could not handle: list, retry, discard.",
  },
  "operations audit": { heading: "The record", sentence: "The audit chain: show, follow, verify, prove, export." },
  "operations audit key": { heading: "The key", sentence: "The key that signs its checkpoints: rotate, revoke." },
};
