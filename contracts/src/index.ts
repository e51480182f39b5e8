// The published face of the contracts: what a program outside the repository may rely on.
import * as decimal from "./decimal.ts";
import * as instant from "./instant.ts";

export {
  type Allowed,
  type Caller,
  isOperation,
  isRole,
  mayCall,
  mayPublish,
  type Operation,
  operations,
  publishers,
  type Role,
  roles,
  serviceOperations,
  whyNot,
} from "./authority.ts";
export {
  type CalendarDefinition,
  isKnown,
  isOpen,
  localDate,
  nextClose,
  nextOpen,
  startOfDate,
  type TradingCalendar,
  tradingCalendar,
  tradingDay,
  type Weekday,
  type WeeklySession,
} from "./calendar.ts";
export { alwaysOpen, calendarByName, usEquities } from "./calendars.ts";
export { type AlarmCode, alarms } from "./codes/alarms.ts";
export { type CommandDenialCode, commandDenials, type GateDenialCode, gateDenials } from "./codes/denials.ts";
export { faults } from "./codes/faults.ts";
export {
  type AlarmEntry,
  type AnswerCode,
  type CodeKind,
  type ExitCode,
  exitCodes,
  type GrpcStatusName,
} from "./codes/shape.ts";
export {
  answerOf,
  type Code,
  codeEntry,
  type Denial,
  type DenialCode,
  everyCode,
  type FaultCode,
  isFaultCode,
} from "./codes.ts";
export type { Decimal, Rounding } from "./decimal.ts";
export { DecimalError } from "./decimal.ts";
export { Defect, type Facts, Fault, messageOf, type Retry } from "./fault.ts";
export { descriptorSetBase64 } from "./generated/descriptors.ts";
export type { Instant } from "./instant.ts";
export { type PlatformService, platformServices } from "./platform-services.ts";
export { type EnvelopeRequest, envelopeRequest, type RiskEnvelope, riskEnvelope } from "./records/envelope.ts";
export { type FundStatus, fundStatus, type NavUpdated, navUpdated } from "./records/fund.ts";
export {
  type ActiveHalt,
  activeHalt,
  type HaltLifted,
  type HaltRequest,
  type HaltResponse,
  type HaltStatus,
  haltLifted,
  haltRequest,
  haltResponse,
  haltStatus,
  type ResumeRequest,
  resumeRequest,
} from "./records/halt.ts";
export {
  type Bar,
  type BarInterval,
  bar,
  barInterval,
  type Instrument,
  instrument,
  type Mark,
  mark,
  type Quote,
  quote,
} from "./records/market.ts";
export {
  type AuditAppend,
  type AuditEntry,
  auditAppend,
  auditEntry,
  type ReconcileDifference,
  reconcileDifference,
  type StopTriggered,
  stopTriggered,
  type WatchdogAlarm,
  watchdogAlarm,
} from "./records/operations.ts";
export {
  type DecisionMade,
  decisionMade,
  type Fill,
  fill,
  type GatePassed,
  gatePassed,
  type Order,
  type OrderCreated,
  type OrderRejection,
  type OrderTransition,
  order,
  orderCreated,
  orderRejection,
  orderTransition,
  type RiskDecision,
  riskDecision,
} from "./records/order.ts";
export {
  type AlarmRaised,
  alarmRaised,
  type ConfigurationChanged,
  configurationChanged,
  type FactorChanged,
  factorChanged,
  type OperatorAttempted,
  type OperatorChanged,
  operatorAttempted,
  operatorChanged,
  type ParkedEvent,
  parkedEvent,
  type SecretChanged,
  type ServiceEvent,
  type ServiceTokenChanged,
  type SessionEvent,
  type SigningKeyChanged,
  type StepUpEvent,
  secretChanged,
  serviceEvent,
  serviceTokenChanged,
  sessionEvent,
  signingKeyChanged,
  stepUpEvent,
} from "./records/platform.ts";
export {
  type Borrow,
  borrow,
  type CalendarReference,
  calendarReference,
  type FundReference,
  type FxRate,
  fundReference,
  fxRate,
  type ReferenceChanged,
  type ReferenceContents,
  type ReferenceKind,
  type Restriction,
  referenceChanged,
  referenceContents,
  referenceKind,
  restriction,
} from "./records/reference.ts";
export { type RiskOfficerVerdict, riskOfficerVerdict } from "./records/risk-officer.ts";
export {
  type AssetClass,
  assetClass,
  type Classification,
  classification,
  type FundMode,
  fundMode,
  type GateName,
  gateName,
  type OrderState,
  type OrderType,
  orderState,
  orderType,
  type Severity,
  type Side,
  severity,
  side,
  type Tif,
  tif,
  type WatchdogName,
  watchdogName,
} from "./records/values.ts";
export type { Delivery, Subject } from "./subject.ts";
export { everySubject, matches, subjectByName, subjects, validatePattern } from "./subjects.ts";
export { decimal, instant };
