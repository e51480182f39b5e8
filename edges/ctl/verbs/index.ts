// Every verb, one line each, in the order of help. Adding one is one file and one line.
import { authEnrolTotp } from "./auth-enrol-totp.ts";
import { authLogin } from "./auth-login.ts";
import { authLogout } from "./auth-logout.ts";
import { authOperatorsAdd } from "./auth-operators-add.ts";
import { authOperatorsDisable } from "./auth-operators-disable.ts";
import { authOperatorsList } from "./auth-operators-list.ts";
import { authOperatorsResetFactor } from "./auth-operators-reset-factor.ts";
import { authOperatorsRoles } from "./auth-operators-roles.ts";
import { authRequestsList } from "./auth-requests-list.ts";
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
import { githubbotBudget } from "./githubbot-budget.ts";
import { githubbotDeliveriesList } from "./githubbot-deliveries-list.ts";
import { githubbotInstall } from "./githubbot-install.ts";
import { githubbotPause } from "./githubbot-pause.ts";
import { githubbotResume } from "./githubbot-resume.ts";
import { githubbotRunsList } from "./githubbot-runs-list.ts";
import { githubbotRunsShow } from "./githubbot-runs-show.ts";
import { githubbotStatus } from "./githubbot-status.ts";
import { githubbotUninstall } from "./githubbot-uninstall.ts";
import { help } from "./help.ts";
import { logs } from "./logs.ts";
import { ls } from "./ls.ts";
import { marketBarsList } from "./market-bars-list.ts";
import { marketNewsList } from "./market-news-list.ts";
import { marketQuotesList } from "./market-quotes-list.ts";
import { omsFillsList } from "./oms-fills-list.ts";
import { omsOrdersAmend } from "./oms-orders-amend.ts";
import { omsOrdersCancel } from "./oms-orders-cancel.ts";
import { omsOrdersList } from "./oms-orders-list.ts";
import { omsOrdersShow } from "./oms-orders-show.ts";
import { omsOrdersSubmit } from "./oms-orders-submit.ts";
import { omsPositionsList } from "./oms-positions-list.ts";
import { operationsAlarmsList } from "./operations-alarms-list.ts";
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
import { operationsFilingsCorrect } from "./operations-filings-correct.ts";
import { operationsFilingsFeedback } from "./operations-filings-feedback.ts";
import { operationsFilingsFetch } from "./operations-filings-fetch.ts";
import { operationsFilingsList } from "./operations-filings-list.ts";
import { operationsFilingsRebuild } from "./operations-filings-rebuild.ts";
import { operationsFilingsReconcile } from "./operations-filings-reconcile.ts";
import { operationsFilingsRecords } from "./operations-filings-records.ts";
import { operationsFilingsReview } from "./operations-filings-review.ts";
import { operationsFilingsSeal } from "./operations-filings-seal.ts";
import { operationsFilingsShow } from "./operations-filings-show.ts";
import { operationsFilingsUpload } from "./operations-filings-upload.ts";
import { operationsFilingsVerify } from "./operations-filings-verify.ts";
import { operationsFlattenShow } from "./operations-flatten-show.ts";
import { operationsParkedDiscard } from "./operations-parked-discard.ts";
import { operationsParkedList } from "./operations-parked-list.ts";
import { operationsParkedRetry } from "./operations-parked-retry.ts";
import { operationsRestrictionsEnd } from "./operations-restrictions-end.ts";
import { operationsRestrictionsList } from "./operations-restrictions-list.ts";
import { operationsSecretsList } from "./operations-secrets-list.ts";
import { operationsSecretsPut } from "./operations-secrets-put.ts";
import { operationsUnauditedAccept } from "./operations-unaudited-accept.ts";
import { operationsUnauditedList } from "./operations-unaudited-list.ts";
import { operationsWatchdogConfig } from "./operations-watchdog-config.ts";
import { operationsWatchdogEpisodes } from "./operations-watchdog-episodes.ts";
import { operationsWatchdogJudge } from "./operations-watchdog-judge.ts";
import { operationsWatchdogPause } from "./operations-watchdog-pause.ts";
import { operationsWatchdogResume } from "./operations-watchdog-resume.ts";
import { operationsWatchdogStatus } from "./operations-watchdog-status.ts";
import { paperInjectClear } from "./paper-inject-clear.ts";
import { paperInjectDeadRows } from "./paper-inject-dead-rows.ts";
import { paperInjectPnl } from "./paper-inject-pnl.ts";
import { paperInjectSkill } from "./paper-inject-skill.ts";
import { paperInjectSlowQueries } from "./paper-inject-slow-queries.ts";
import { paperFaultsSet } from "./paper-weather-set.ts";
import { paperFaultsShow } from "./paper-weather-show.ts";
import { platformServicesList } from "./platform-services-list.ts";
import { replayBars } from "./replay-bars.ts";
import { replayMoment } from "./replay-moment.ts";
import { replayTimeline } from "./replay-timeline.ts";
import { replayVerify } from "./replay-verify.ts";
import { reportAlphaDecay } from "./report-alpha-decay.ts";
import { reportFactorAttribution } from "./report-factor-attribution.ts";
import { reportList } from "./report-list.ts";
import { reportNav } from "./report-nav.ts";
import { reportPositionAttribution } from "./report-position-attribution.ts";
import { reportPostmortem } from "./report-postmortem.ts";
import { reportRegimeAttribution } from "./report-regime-attribution.ts";
import { reportRiskEnvelope } from "./report-risk-envelope.ts";
import { reportRun } from "./report-run.ts";
import { reportSchedules } from "./report-schedules.ts";
import { reportSettlement } from "./report-settlement.ts";
import { reportShow } from "./report-show.ts";
import { reportTca } from "./report-tca.ts";
import { reportTrade } from "./report-trade.ts";
import { researchBacktestShow } from "./research-backtest-show.ts";
import { researchMatrix } from "./research-matrix.ts";
import { researchSignalsList } from "./research-signals-list.ts";
import { researchStrategiesList } from "./research-strategies-list.ts";
import { researchStrategiesSet } from "./research-strategies-set.ts";
import { riskengineApprovalsEnd } from "./riskengine-approvals-end.ts";
import { riskengineApprovalsList } from "./riskengine-approvals-list.ts";
import { riskengineApprovalsRelease } from "./riskengine-approvals-release.ts";
import { riskengineBlocksAccept } from "./riskengine-blocks-accept.ts";
import { riskengineBlocksList } from "./riskengine-blocks-list.ts";
import { riskengineBooks } from "./riskengine-books.ts";
import { riskengineDifferencesList } from "./riskengine-differences-list.ts";
import { riskengineEnvelopeDiff } from "./riskengine-envelope-diff.ts";
import { riskengineEnvelopeHistory } from "./riskengine-envelope-history.ts";
import { riskengineEnvelopeReplay } from "./riskengine-envelope-replay.ts";
import { riskengineEnvelopeSet } from "./riskengine-envelope-set.ts";
import { riskengineEnvelopeShow } from "./riskengine-envelope-show.ts";
import { riskengineFlatProve } from "./riskengine-flat-prove.ts";
import { riskengineForeignPosition } from "./riskengine-foreign-position.ts";
import { riskengineHaltsHistory } from "./riskengine-halts-history.ts";
import { riskengineHaltsList } from "./riskengine-halts-list.ts";
import { riskengineHeadroom } from "./riskengine-headroom.ts";
import { riskengineLossesList } from "./riskengine-losses-list.ts";
import { riskengineReconcile } from "./riskengine-reconcile.ts";
import { riskengineRejectionsList } from "./riskengine-rejections-list.ts";
import { riskengineSourcesHandOver } from "./riskengine-sources-hand-over.ts";
import { riskengineStopsEnd } from "./riskengine-stops-end.ts";
import { riskengineStopsList } from "./riskengine-stops-list.ts";
import { riskengineThrottleRelease } from "./riskengine-throttle-release.ts";
import { riskengineUseList } from "./riskengine-use-list.ts";
import { signalsList } from "./signals-list.ts";
import { signalsRotateSecret } from "./signals-rotate-secret.ts";
import { signalsShow } from "./signals-show.ts";
import { signalsTemplate } from "./signals-template.ts";
import { signalsTest } from "./signals-test.ts";
import { treasuryCorporateActionBook } from "./treasury-corporate-action-book.ts";
import { treasuryFlowBook } from "./treasury-flow-book.ts";
import { treasuryFundsList } from "./treasury-funds-list.ts";
import { treasuryInstrumentsList } from "./treasury-instruments-list.ts";
import { treasuryLedgerList } from "./treasury-ledger-list.ts";
import { treasuryNavsList } from "./treasury-navs-list.ts";
import { treasuryRebuild } from "./treasury-rebuild.ts";
import { treasuryReferenceSet } from "./treasury-reference-set.ts";
import { treasuryReferenceShow } from "./treasury-reference-show.ts";
import { tui } from "./tui.ts";
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
  authOperatorsList,
  authOperatorsAdd,
  authOperatorsRoles,
  authOperatorsDisable,
  authOperatorsResetFactor,
  authRequestsList,
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
  riskengineHaltsHistory,
  riskengineLossesList,
  platformServicesList,
  operationsFlattenShow,
  operationsDrillsRun,
  operationsFilingsList,
  operationsFilingsRecords,
  operationsFilingsShow,
  operationsFilingsFetch,
  operationsFilingsSeal,
  operationsFilingsUpload,
  operationsFilingsFeedback,
  operationsFilingsCorrect,
  operationsFilingsReconcile,
  operationsFilingsVerify,
  operationsFilingsReview,
  operationsFilingsRebuild,
  operationsParkedList,
  operationsParkedRetry,
  operationsParkedDiscard,
  operationsUnauditedList,
  operationsUnauditedAccept,
  operationsWatchdogStatus,
  operationsWatchdogConfig,
  operationsWatchdogPause,
  operationsWatchdogResume,
  operationsWatchdogJudge,
  operationsWatchdogEpisodes,
  operationsRestrictionsList,
  operationsRestrictionsEnd,
  operationsAlarmsList,
  operationsSecretsList,
  operationsSecretsPut,
  operationsDrillsList,
  why,
  tui,
  logs,
  ls,
  omsPositionsList,
  omsOrdersList,
  omsOrdersShow,
  omsOrdersSubmit,
  omsOrdersAmend,
  omsOrdersCancel,
  omsFillsList,
  signalsList,
  signalsShow,
  signalsTemplate,
  signalsTest,
  signalsRotateSecret,
  githubbotInstall,
  githubbotStatus,
  githubbotRunsList,
  githubbotRunsShow,
  githubbotDeliveriesList,
  githubbotBudget,
  githubbotPause,
  githubbotResume,
  githubbotUninstall,
  marketQuotesList,
  marketBarsList,
  marketNewsList,
  riskengineEnvelopeShow,
  riskengineEnvelopeSet,
  riskengineEnvelopeDiff,
  riskengineEnvelopeHistory,
  riskengineEnvelopeReplay,
  replayTimeline,
  replayMoment,
  replayBars,
  replayVerify,
  riskengineHeadroom,
  riskengineUseList,
  riskengineThrottleRelease,
  riskengineApprovalsList,
  riskengineForeignPosition,
  riskengineApprovalsRelease,
  riskengineApprovalsEnd,
  riskengineSourcesHandOver,
  riskengineRejectionsList,
  riskengineBlocksList,
  riskengineBlocksAccept,
  riskengineStopsList,
  riskengineStopsEnd,
  riskengineReconcile,
  riskengineFlatProve,
  riskengineDifferencesList,
  riskengineBooks,
  reportNav,
  reportTrade,
  reportPostmortem,
  reportTca,
  reportSettlement,
  reportAlphaDecay,
  reportRiskEnvelope,
  reportRegimeAttribution,
  reportFactorAttribution,
  reportPositionAttribution,
  reportList,
  reportShow,
  reportSchedules,
  reportRun,
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
  researchSignalsList,
  researchBacktestShow,
  researchMatrix,
  paperFaultsShow,
  paperFaultsSet,
  paperInjectSkill,
  paperInjectPnl,
  paperInjectDeadRows,
  paperInjectSlowQueries,
  paperInjectClear,
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
