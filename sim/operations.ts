// Every operation of the table of authority that changes something, and how it happens in a simulated run: by an action of its own, by what the
// simulated people and services do all the time, or not at all, and then why. operations.test.ts holds the table against this list;
// seeds.ci.test.ts that each one that is said to happen does.
import type { ChangingOperation } from "../contracts/src/authority.ts";
import type { Prng } from "../testkit/virtual/prng.ts";
import type { Act, ActionParts } from "./actions/action.ts";
import { bookCorporateAction } from "./actions/corporate.ts";
import * as money from "./actions/money.ts";
import * as operator from "./actions/operator-actions.ts";
import { setReferenceData } from "./actions/reference.ts";
import { one, type PeopleParts } from "./people.ts";

export type Simulated =
  /** Drawn as often as its weight says. */
  | { readonly weight: number; readonly act: Act }
  /** Who asks it, all the time. */
  | { readonly by: string }
  /** Why it never happens here, and the test that shows it instead. */
  | { readonly why: string; readonly shownBy: string };

const drawn = (weight: number, act: Act): Simulated => ({ weight, act });
const by = (who: string): Simulated => ({ by: who });
const not = (why: string, shownBy: string): Simulated => ({ why, shownBy });

const noFilings = "No fund is enabled for a regulator here.";
const oneLog = "The invariants follow one log from its first entry to its last.";
const outside = "Our own order management, treasury and feed run here, and no program in their place.";
const gateway = "It is the gateway's own, which is no service and does not run here.";

/**
 * An operation that is missing here is an error of types and of operations.test.ts: write an action for it in sim/actions, or say why it cannot
 * happen in a simulated run. One that only reads says so in its proto.
 */
export const simulated: Readonly<Record<ChangingOperation, Simulated>> = {
  CheckOrder: by("order management for every order, and a client that never sends what was approved"),
  CheckOrders: not(
    "It is CheckOrder over a stream, and services ask each other one by one.",
    "adapters/grpc/bidirectional.test.ts",
  ),
  UpdateEnvelope: by("the two operators"),
  ReleaseThrottle: drawn(5, operator.releaseThrottle),
  AcceptBlock: drawn(1, operator.acceptBlock),
  ConfirmSent: drawn(5, operator.confirmSent),
  ReleaseApproval: drawn(5, operator.releaseApproval),
  EndApproval: not(outside, "services/riskengine/approvals/end-approval.test.ts"),
  HandOverSource: not(outside, "services/riskengine/ownership/hand-over.test.ts"),

  Publish: not(outside, "services/operations/foreign/publish-events.test.ts"),
  PublishOrders: not(outside, "services/operations/foreign/publish-events.test.ts"),
  PublishValues: not(outside, "services/operations/foreign/publish-events.test.ts"),
  PublishPrices: not(outside, "services/operations/foreign/publish-events.test.ts"),

  RequestHalt: by("the two operators"),
  ResumeHalt: by("the two operators"),
  AnnounceHalt: by("operations for every halt that it latches"),
  ConfirmHalts: by("operations for every halt that it latches"),
  ReserveWithdrawal: by("treasury for every withdrawal"),
  FlattenPaper: drawn(2, operator.flattenPaper),
  RunDrill: drawn(4, operator.runDrill),
  RestartAll: not(
    "The gateway asks the supervisor for it; here every service is killed at any moment, which is harder.",
    "edges/ctl/halt-queries.test.ts",
  ),

  SetWatchdogConfig: not("Its answer lies in the secrets store.", "services/operations/watchdogs/watchdogs.test.ts"),
  PauseWatchdog: not(
    "A pause changes nothing but what is restricted.",
    "services/operations/watchdogs/watchdogs.test.ts",
  ),
  ResumeWatchdog: not("It ends a pause.", "services/operations/watchdogs/watchdogs.test.ts"),
  InjectObservations: not("There is no database to slow down.", "services/operations/watchdogs/watchdogs.test.ts"),
  EndRestriction: not("Who ends it is asked outside.", "services/operations/restrictions.test.ts"),
  JudgeWatchdog: not("They judge all the time.", "services/operations/watchdogs/watchdogs.test.ts"),

  AppendAudit: drawn(4, operator.appendAudit),
  InspectAudit: drawn(1, operator.inspectAudit),
  BeginAuditInspection: drawn(1, operator.beginAuditInspection),
  RotateAuditKey: drawn(1, operator.rotateAuditKey),
  RevokeAuditKey: drawn(2, operator.revokeAuditKey),
  BeginAuditAnew: not(oneLog, "services/operations/audit/anew/anew.test.ts"),
  CosignAuditAnew: not(oneLog, "services/operations/audit/anew/anew.test.ts"),
  EraseAuditSubject: not(
    "What is sealed about persons comes from the gateway, which does not run here.",
    "services/operations/audit/personal/erase-queries.test.ts",
  ),
  ReportRegulatoryEvent: not(
    "No fund is enabled for a regulator here, and then it changes nothing.",
    "services/operations/filings/report-event.test.ts",
  ),
  SealFilings: not(noFilings, "services/operations/filings/seal.test.ts"),
  UploadFilings: not(noFilings, "services/operations/filings/seal.test.ts"),
  TakeFilingFeedback: not(noFilings, "services/operations/filings/seal.test.ts"),
  CorrectFilingRecord: not(noFilings, "services/operations/filings/seal.test.ts"),
  RepairFilings: not(noFilings, "services/operations/filings/filing-checks.test.ts"),
  ReviewFilings: not(noFilings, "services/operations/filings/filing-checks.test.ts"),
  RebuildFilings: not(noFilings, "services/operations/filings/filing-checks.test.ts"),

  SubmitOrder: by("the traders, research and the exits of operations"),
  CancelOrder: by("the traders"),
  AmendOrder: by("the traders, also with keys that came before and out of order"),
  CancelAll: by("the two operators"),
  CrossPositions: by(
    "operations, for a stop that only the opposite position of another strategy of its fund can close",
  ),
  ReceiveSignal: by("the charting platform, which resends what was not taken"),
  RecordRefusedSignal: not("It is the gateway's own, which does not run here.", "services/oms/signals/signals.test.ts"),
  MakeReport: not("It is the gateway's own, which does not run here.", "edges/gateway/reports/report-queue.test.ts"),
  AdjustPosition: drawn(4, money.adjustPosition),
  SetPaperWeather: drawn(8, operator.setPaperWeather),
  BookCorporateAction: drawn(12, bookCorporateAction),
  BookFlow: drawn(12, money.bookFlow),
  RebuildLedger: drawn(5, money.rebuildLedger),
  SetStrategy: drawn(8, operator.setStrategy),
  EndStop: drawn(3, operator.endStop),
  Reconcile: drawn(3, operator.reconcile),
  ProveFlat: drawn(3, operator.proveFlat),
  SetReferenceData: drawn(26, setReferenceData),
  CosignReferenceData: by("the second operator, for what the first one asked for during a halt"),
  RetryParked: drawn(1, operator.retryParked),
  DiscardParked: drawn(2, operator.discardParked),

  LogOut: not(gateway, "acceptance/login.test.ts"),
  EnrolSecondFactor: not(gateway, "acceptance/login.test.ts"),
  StepUp: not(gateway, "acceptance/login.test.ts"),
  IssueServiceToken: not(gateway, "acceptance/identity.test.ts"),
  RotateServiceToken: not(gateway, "acceptance/identity.test.ts"),
  ReceiveTradingviewAlert: not(gateway, "acceptance/webhook.test.ts"),
  ReceiveGithubDelivery: not(gateway, "edges/gateway/githubbot/webhook.test.ts"),
  InstallGithubbot: not(gateway, "adapters/githubbot/githubbot.test.ts"),
  UninstallGithubbot: not(gateway, "adapters/githubbot/githubbot.test.ts"),
  PauseGithubbot: not(gateway, "adapters/githubbot/githubbot.test.ts"),
  ResumeGithubbot: not(gateway, "adapters/githubbot/githubbot.test.ts"),
  RotateWebhookSecret: not(gateway, "acceptance/webhook.test.ts"),
  RevokeServiceToken: not(gateway, "acceptance/identity.test.ts"),
  PutSecret: not("A value lies in the secrets store.", "services/operations/secrets/secrets.test.ts"),
  RevokeSessions: not(gateway, "acceptance/identity.test.ts"),
  AddOperator: not(gateway, "acceptance/operators.long.test.ts"),
  ChangeOperatorRoles: not(gateway, "adapters/identity/administration/operators-admin.test.ts"),
  DisableOperator: not(gateway, "acceptance/operators.long.test.ts"),
  ResetOperatorFactor: not(gateway, "acceptance/operators.long.test.ts"),
  CosignIdentityRequest: not(gateway, "acceptance/operators.long.test.ts"),
  AcceptUnauditedChange: not(gateway, "acceptance/unaudited.long.test.ts"),
  CosignUnauditedChange: not(gateway, "acceptance/unaudited.long.test.ts"),
  RotateSigningKeys: not(gateway, "acceptance/identity.test.ts"),
};

const actions = Object.values(simulated).flatMap((one) => ("act" in one ? [one] : []));
const weights = actions.reduce((sum, { weight }) => sum + weight, 0);

function draw(prng: Prng): Act {
  let left = prng.below(weights);
  for (const { weight, act } of actions) {
    if (left < weight) return act;
    left -= weight;
  }
  return money.bookFlow;
}

/** How many operations a run is about; half of what is drawn is one of them, so that each run sees much of a little. */
const themes = 2;

export interface OfficersOptions {
  readonly everyMs: number;
  /** Approvals that nobody sends. */
  readonly crashed: readonly string[];
  /** The operation that the run is about; drawn when it is undefined or nobody's to draw. */
  readonly about?: string | undefined;
}

/** Draws actions until the faults end, never waiting for an answer before the next. */
export async function officers(people: PeopleParts, { everyMs, crashed, about }: OfficersOptions): Promise<void> {
  const prng = people.time.prng.fork("officers");
  const parts: ActionParts = { ...people, prng, crashed, oldKeys: [], asked: new Map() };
  const isAboutActions = people.time.prng.fork("is it about corporate actions").chance(0.25);
  const named = about === undefined ? undefined : simulated[about as keyof typeof simulated];
  const drawnTheme = isAboutActions ? [bookCorporateAction] : Array.from({ length: themes }, () => draw(prng));
  const theme = named !== undefined && "act" in named ? [named.act] : drawnTheme;
  while (!people.isStopping()) {
    await people.time.timers.sleep(1 + prng.below(2 * everyMs));
    if (people.isStopping()) return;
    const act = prng.chance(0.5) ? one(prng, theme) : draw(prng);
    void act(parts);
  }
}
