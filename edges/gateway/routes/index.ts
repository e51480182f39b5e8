// The gateway's routes, one line each; every one takes the gateway's parts and gives a route. Adding one is one file and one
// line. None may use its parts before a request comes: the documents are made from the same list without any.
import type { Route } from "../../../ports/http.ts";
import type { GatewayParts } from "../parts.ts";
import { approvalRelease } from "./approval-release.ts";
import { approvalsList } from "./approvals-list.ts";
import { auditAnew } from "./audit-anew.ts";
import { auditAnewCosign } from "./audit-anew-cosign.ts";
import { auditAppend } from "./audit-append.ts";
import { auditBundleHead } from "./audit-bundle-head.ts";
import { auditCheckpoint } from "./audit-checkpoint.ts";
import { auditConsistency } from "./audit-consistency.ts";
import { auditEntries } from "./audit-entries.ts";
import { auditErasure } from "./audit-erasure.ts";
import { auditInspect } from "./audit-inspect.ts";
import { auditInspectionBegin } from "./audit-inspection-begin.ts";
import { auditKeyRevoke } from "./audit-key-revoke.ts";
import { auditKeyRotate } from "./audit-key-rotate.ts";
import { auditProof } from "./audit-proof.ts";
import { auditRun } from "./audit-run.ts";
import { auditStatus } from "./audit-status.ts";
import { auditTail } from "./audit-tail.ts";
import { auditTile } from "./audit-tile.ts";
import { auditTrail } from "./audit-trail.ts";
import { auditVerificationBegin } from "./audit-verification-begin.ts";
import { auditVerify } from "./audit-verify.ts";
import { backtest } from "./backtest.ts";
import { barsList } from "./bars-list.ts";
import { blocksList } from "./blocks-list.ts";
import { books } from "./books.ts";
import { corporateActionBook } from "./corporate-action-book.ts";
import { decisions } from "./decisions.ts";
import { differencesList } from "./differences-list.ts";
import { drillRun } from "./drill-run.ts";
import { drillsList } from "./drills-list.ts";
import { envelope } from "./envelope.ts";
import { envelopeDiff } from "./envelope-diff.ts";
import { envelopeHistory } from "./envelope-history.ts";
import { envelopeReplay } from "./envelope-replay.ts";
import { envelopeUpdate } from "./envelope-update.ts";
import { fillsList } from "./fills-list.ts";
import { flatProve } from "./flat-prove.ts";
import { flatten } from "./flatten.ts";
import { flattenBegin } from "./flatten-begin.ts";
import { flowBook } from "./flow-book.ts";
import { fundsList } from "./funds-list.ts";
import { haltRequest } from "./halt-request.ts";
import { haltResume } from "./halt-resume.ts";
import { haltStatus } from "./halt-status.ts";
import { haltsList } from "./halts-list.ts";
import { headroom } from "./headroom.ts";
import { operatorHealthz, publicHealthz } from "./healthz.ts";
import { identity } from "./identity.ts";
import { instrumentsList } from "./instruments-list.ts";
import { ledgerList } from "./ledger-list.ts";
import { ledgerRebuild } from "./ledger-rebuild.ts";
import { logOut } from "./log-out.ts";
import { loginConfiguration } from "./login-configuration.ts";
import { lossesList } from "./losses-list.ts";
import { metricsPage } from "./metrics.ts";
import { navsList } from "./navs-list.ts";
import { newsList } from "./news-list.ts";
import { openApi } from "./open-api.ts";
import { order } from "./order.ts";
import { orderAmend } from "./order-amend.ts";
import { orderCancel } from "./order-cancel.ts";
import { orderSubmit } from "./order-submit.ts";
import { ordersCancelAll } from "./orders-cancel-all.ts";
import { ordersList } from "./orders-list.ts";
import { paperWeather } from "./paper-weather.ts";
import { paperWeatherSet } from "./paper-weather-set.ts";
import { parkedDiscard } from "./parked-discard.ts";
import { parkedList } from "./parked-list.ts";
import { parkedRetry } from "./parked-retry.ts";
import { positionsList } from "./positions-list.ts";
import { publicBars } from "./public-bars.ts";
import { publicFunds } from "./public-funds.ts";
import { publicHalts } from "./public-halts.ts";
import { publicOpenApi } from "./public-open-api.ts";
import { publicQuote } from "./public-quote.ts";
import { quotesList } from "./quotes-list.ts";
import { reconcile } from "./reconcile.ts";
import { referenceData } from "./reference-data.ts";
import { referenceDataSet } from "./reference-data-set.ts";
import { rejectionsList } from "./rejections-list.ts";
import { secondFactorBegin } from "./second-factor-begin.ts";
import { secondFactorConfirm } from "./second-factor-confirm.ts";
import { serviceTokenIssue } from "./service-token-issue.ts";
import { serviceTokenRevoke } from "./service-token-revoke.ts";
import { serviceTokenRotate } from "./service-token-rotate.ts";
import { serviceTokensList } from "./service-tokens-list.ts";
import { servicesRestart } from "./services-restart.ts";
import { sessionsRevoke } from "./sessions-revoke.ts";
import { signalsList } from "./signals-list.ts";
import { signingKeysRotate } from "./signing-keys-rotate.ts";
import { stepUp } from "./step-up.ts";
import { stopEnd } from "./stop-end.ts";
import { stopsList } from "./stops-list.ts";
import { strategiesList } from "./strategies-list.ts";
import { strategySet } from "./strategy-set.ts";
import { throttleRelease } from "./throttle-release.ts";

// biome-ignore format: one route, one line
export const routes: readonly ((parts: GatewayParts) => Route)[] = [
  operatorHealthz,
  publicHealthz,
  metricsPage,
  openApi,
  publicOpenApi,
  loginConfiguration,
  identity,
  logOut,
  secondFactorBegin,
  secondFactorConfirm,
  stepUp,
  serviceTokensList,
  serviceTokenIssue,
  serviceTokenRotate,
  serviceTokenRevoke,
  sessionsRevoke,
  signingKeysRotate,
  envelope,
  envelopeUpdate,
  envelopeHistory,
  envelopeDiff,
  envelopeReplay,
  rejectionsList,
  decisions,
  headroom,
  throttleRelease,
  approvalsList,
  approvalRelease,
  haltsList,
  haltStatus,
  haltRequest,
  haltResume,
  lossesList,
  blocksList,
  flatten,
  flattenBegin,
  drillsList,
  drillRun,
  servicesRestart,
  stopsList,
  stopEnd,
  reconcile,
  differencesList,
  flatProve,
  books,
  parkedList,
  parkedRetry,
  parkedDiscard,
  positionsList,
  ordersList,
  orderSubmit,
  order,
  orderCancel,
  orderAmend,
  ordersCancelAll,
  fillsList,
  paperWeather,
  paperWeatherSet,
  fundsList,
  navsList,
  ledgerList,
  corporateActionBook,
  ledgerRebuild,
  flowBook,
  instrumentsList,
  referenceData,
  referenceDataSet,
  strategiesList,
  strategySet,
  backtest,
  signalsList,
  quotesList,
  barsList,
  newsList,
  publicQuote,
  publicBars,
  publicFunds,
  publicHalts,
  auditTrail,
  auditAppend,
  auditVerify,
  auditEntries,
  auditTail,
  auditProof,
  auditConsistency,
  auditBundleHead,
  auditStatus,
  auditInspect,
  auditVerificationBegin,
  auditInspectionBegin,
  auditRun,
  auditKeyRotate,
  auditKeyRevoke,
  auditErasure,
  auditAnew,
  auditAnewCosign,
  auditCheckpoint,
  auditTile,
];
