// Every step of the schema, in order. A released step is not edited; a change is a new file and a new line here.
import type { Migration } from "../migrate.ts";
import { outboxMigration } from "./0001-outbox.ts";
import { identityMigration } from "./0002-identity.ts";
import { riskMigration } from "./0003-risk.ts";
import { auditMigration } from "./0004-audit.ts";
import { subjectKeysMigration } from "./0005-subject-keys.ts";
import { configurationMigration } from "./0006-configuration.ts";
import { omsMigration } from "./0007-oms.ts";
import { paperBrokerMigration } from "./0008-paper-broker.ts";
import { treasuryMigration } from "./0009-treasury.ts";
import { researchMigration } from "./0010-research.ts";
import { workersMigration } from "./0011-workers.ts";
import { booksMigration } from "./0012-books.ts";
import { navPricesMigration } from "./0013-nav-prices.ts";
import { omsKeysMigration } from "./0014-oms-keys.ts";
import { resumesMigration } from "./0015-resumes.ts";
import { haltsMigration } from "./0016-halts.ts";
import { lossesMigration } from "./0017-losses.ts";
import { flattenMigration } from "./0018-flatten.ts";
import { auditRepairMigration } from "./0019-audit-repair.ts";
import { tradedSinceMigration } from "./0020-traded-since.ts";
import { auditStandingMigration } from "./0021-audit-standing.ts";
import { approvalsMigration } from "./0022-approvals.ts";
import { waitingFillsMigration } from "./0023-waiting-fills.ts";
import { refusedOrdersMigration } from "./0024-refused-orders.ts";
import { auditAnewMigration } from "./0025-audit-anew.ts";
import { firstSeenMigration } from "./0026-first-seen.ts";
import { corporateActionsMigration } from "./0027-corporate-actions.ts";
import { putAsideMigration } from "./0028-put-aside.ts";
import { releasedApprovalsMigration } from "./0029-released-approvals.ts";
import { dividendsMigration } from "./0030-dividends.ts";
import { restrictionsMigration } from "./0031-restrictions.ts";
import { watchdogsMigration } from "./0032-watchdogs.ts";
import { paperInjectionsMigration } from "./0033-paper-injections.ts";
import { haltLiftsMigration } from "./0034-halt-lifts.ts";
import { auditAlarmsMigration } from "./0035-audit-alarms.ts";
import { requestKeysMigration } from "./0036-request-keys.ts";
import { cancelledForMigration } from "./0037-cancelled-for.ts";
import { signalsMigration } from "./0038-signals.ts";
import { flatteningRefusalsMigration } from "./0039-flattening-refusals.ts";
import { trimmedSignalsMigration } from "./0040-trimmed-signals.ts";
import { installationMigration } from "./0041-installation.ts";
import { serviceLoginsMigration } from "./0042-service-logins.ts";
import { rowPoliciesMigration } from "./0043-row-policies.ts";
import { operatorsMigration } from "./0044-operators.ts";
import { reportsMigration } from "./0045-reports.ts";
import { keptQuotesMigration } from "./0046-kept-quotes.ts";
import { usedStepsMigration } from "./0047-used-steps.ts";
import { guardedRowsMigration } from "./0048-guarded-rows.ts";
import { blocksMigration } from "./0049-blocks.ts";
import { reportSchedulesMigration } from "./0050-report-schedules.ts";
import { foreignPositionsMigration } from "./0051-foreign-positions.ts";
import { codeQuestionsMigration } from "./0052-code-questions.ts";
import { liftingMigration } from "./0053-lifting.ts";
import { creatingPowerMigration } from "./0054-creating-power.ts";
import { bustsMigration } from "./0055-busts.ts";
import { tokenFundsMigration } from "./0056-token-funds.ts";
import { eventContentsMigration } from "./0057-event-contents.ts";
import { referenceRequestsMigration } from "./0058-reference-requests.ts";
import { loginGrantsMigration } from "./0059-login-grants.ts";
import { valuersMigration } from "./0060-valuers.ts";
import { orderOwnersMigration } from "./0061-order-owners.ts";
import { tokenLoginsMigration } from "./0062-token-logins.ts";
import { priceTurnsMigration } from "./0063-price-turns.ts";
import { keptMarketMigration } from "./0064-kept-market.ts";
import { timelineMigration } from "./0065-timeline.ts";
import { keptBooksMigration } from "./0066-kept-books.ts";
import { filingsMigration } from "./0067-filings.ts";
import { filingStepsMigration } from "./0068-filing-steps.ts";
import { filingSettingsMigration } from "./0069-filing-settings.ts";
import { filingFilesMigration } from "./0070-filing-files.ts";
import { repositoryBotMigration } from "./0071-repository-bot.ts";

export const migrations: readonly Migration[] = [
  outboxMigration,
  identityMigration,
  riskMigration,
  auditMigration,
  subjectKeysMigration,
  configurationMigration,
  omsMigration,
  paperBrokerMigration,
  treasuryMigration,
  researchMigration,
  workersMigration,
  booksMigration,
  navPricesMigration,
  omsKeysMigration,
  resumesMigration,
  haltsMigration,
  lossesMigration,
  flattenMigration,
  auditRepairMigration,
  tradedSinceMigration,
  auditStandingMigration,
  approvalsMigration,
  waitingFillsMigration,
  refusedOrdersMigration,
  auditAnewMigration,
  firstSeenMigration,
  corporateActionsMigration,
  putAsideMigration,
  releasedApprovalsMigration,
  dividendsMigration,
  restrictionsMigration,
  watchdogsMigration,
  paperInjectionsMigration,
  haltLiftsMigration,
  auditAlarmsMigration,
  requestKeysMigration,
  cancelledForMigration,
  signalsMigration,
  flatteningRefusalsMigration,
  trimmedSignalsMigration,
  installationMigration,
  serviceLoginsMigration,
  rowPoliciesMigration,
  operatorsMigration,
  reportsMigration,
  keptQuotesMigration,
  usedStepsMigration,
  guardedRowsMigration,
  blocksMigration,
  reportSchedulesMigration,
  foreignPositionsMigration,
  codeQuestionsMigration,
  liftingMigration,
  creatingPowerMigration,
  bustsMigration,
  tokenFundsMigration,
  eventContentsMigration,
  referenceRequestsMigration,
  loginGrantsMigration,
  valuersMigration,
  orderOwnersMigration,
  tokenLoginsMigration,
  priceTurnsMigration,
  keptMarketMigration,
  timelineMigration,
  keptBooksMigration,
  filingsMigration,
  filingStepsMigration,
  filingSettingsMigration,
  filingFilesMigration,
  repositoryBotMigration,
];
