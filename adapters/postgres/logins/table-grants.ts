// What each service's database login may do: every table and function of the migrations stands here once, and nothing else is granted. What is append-only
// has no update and no delete; what is secret is read only by whoever works with it. `tidy.test.ts` fails for a table that a migration adds without a line here.
//
//  1. `read: "all"` is for records: services read each other's rather than keep copies. Tables of people, logins and keys name their readers.
//  2. Only the owner reaches a table whose line is empty.
//  3. `update (one)` is the right to lock a row and nothing more: that column has one value.
import {
  type PlatformService,
  platformServices,
  type StoreProcess,
  storeProcesses,
} from "../../../contracts/src/platform-services.ts";

type Columns = "" | ` (${string})`;
export type WriteRight = `insert${Columns}` | `update${Columns}` | "delete";
type Writers = Partial<Readonly<Record<StoreProcess, readonly WriteRight[]>>>;

interface TableGrants {
  readonly read: readonly StoreProcess[];
  readonly write: Writers;
}

const all: readonly StoreProcess[] = platformServices;
/** With what acts at GitHub, which has its own tables and of the others only what a process must have. */
const everybody: readonly StoreProcess[] = storeProcesses;
/** Those that hear events. */
const hearers: readonly PlatformService[] = ["riskengine", "operations", "oms", "treasury"];

const by = (services: readonly StoreProcess[], ...rights: readonly WriteRight[]): Writers =>
  Object.fromEntries(services.map((service) => [service, rights]));
const readable = (write: Writers = {}): TableGrants => ({ read: all, write });
const secretOf = (read: readonly StoreProcess[], write: Writers): TableGrants => ({ read, write });
const ownersOnly: TableGrants = { read: [], write: {} };

const halting: readonly PlatformService[] = ["riskengine", "operations"];
/** Corporate actions move positions and ledger together, in order management. */
const booking: readonly PlatformService[] = ["treasury", "oms"];
const kept = ["insert", "update"] as const;
const free = ["insert", "update", "delete"] as const;

const bus: Readonly<Record<string, TableGrants>> = {
  outbox: readable(by(everybody, "insert (event_id, at_us, subject, key, source, payload)")),
  // Read by every start, to see that the login works.
  outbox_floor: { read: everybody, write: {} },
  subscription: readable(by(hearers, ...free)),
  // The risk engine alone counts, whichever way an event came in.
  foreign_position: readable(by(["riskengine"], ...kept)),
  foreign_unnumbered: readable(by(["riskengine"], "insert")),
  // Both take a bust in by themselves, whichever hears it first.
  foreign_bust: readable(by(["riskengine", "treasury"], "insert")),
  foreign_fill: readable(by(["treasury"], "insert")),
  order_hand_over: readable(by(["riskengine"], "insert")),
  price_turn: readable(by(["riskengine"], ...kept)),
  parked_event: readable(
    by(
      hearers,
      "insert",
      "update (state, error, attempts, tried_us, retry_us, retry_by, retry_reason, taken_us, discarded_us, discarded_by, discard_reason)",
      "delete",
    ),
  ),
  handled_event: readable(by(hearers, "insert")),
  commit_marker: { read: everybody, write: by(everybody, "insert (id, at_us)") },
  service_instance: { read: everybody, write: by(everybody, "insert", "update (lease_until_us)", "delete") },
  request_key: readable(by(all, ...free)),
  configuration_value: readable(),
  report: readable(by(["gateway"], ...free)),
  report_document: readable(by(["gateway"], ...free)),
  report_schedule: readable(by(["gateway"], ...free)),
  report_run: readable(by(["gateway"], ...free)),
  report_delivery: readable(by(["gateway"], ...free)),
};

const requestRights =
  "insert (request_id, operation, target, parameters, sealed, requested_by, subject, reason, made_us, expires_us)" as const;
const proofRights = "insert (proof_hash, subject, session_id, action, parameters_hash, issued_us, expires_us)" as const;

const identity: Readonly<Record<string, TableGrants>> = {
  identity_epoch: readable(),
  identity_issuer: readable(by(["gateway"], ...free)),
  identity_key: readable(by(["gateway"], ...free)),
  identity_revocation: readable(by(["gateway"], ...free)),
  service_token: readable(by(["gateway"], ...free)),
  // Every process that checks tokens notes once a minute which it saw.
  service_token_use: readable({
    ...by(all, "insert (token_id, used_us)", "update (used_us)"),
    ...by(["gateway"], ...free),
  }),
  // Made unsigned, and signed later; the same with proofs, which are redeemed later.
  identity_request: secretOf(
    ["gateway"],
    by(["gateway"], requestRights, "update (outcome, ended_by, ended_us, sealed)", "delete"),
  ),
  operator: secretOf(["gateway"], by(["gateway"], ...free)),
  second_factor: secretOf(["gateway"], by(["gateway"], ...free)),
  // Asked by ask_code, judged by whoever keeps second factors.
  code_question: secretOf(["gateway"], by(["gateway"], "update (question_id)", "delete")),
  code_answer: secretOf(["gateway", ...halting], by(["gateway"], "insert", "delete")),
  recovery_code: secretOf(["gateway"], by(["gateway"], ...free)),
  step_up_proof: secretOf(["gateway", ...halting, "treasury"], {
    ...by([...halting, "treasury"], "update (redeemed_us)"),
    ...by(["gateway"], proofRights, "update (redeemed_us)", "delete"),
  }),
  oidc_state: secretOf(["gateway"], by(["gateway"], ...free)),
};

const risk: Readonly<Record<string, TableGrants>> = {
  // Written by risk_append alone.
  risk_journal: readable(),
  risk_pen: readable(),
  risk_snapshot: readable(by(["riskengine"], ...free)),
  risk_envelope: readable(by(["riskengine"], "insert")),
  risk_envelope_head: readable(by(["riskengine"], ...kept)),
  risk_nav: readable(by(["riskengine"], ...kept)),
  halt_epoch: readable({ ...by(halting, "update (epoch)"), ...by(booking, "update (one)") }),
  // Lifted by lift_halts alone.
  halt: readable(by(halting, "insert")),
  halt_told: readable(by(halting, "insert")),
  halt_step: readable(by(["operations"], "insert")),
  resume_request: readable(by(halting, "insert", "update (has_ended, content)")),
  loss_state: readable(by(halting, ...kept)),
  loss_baseline: readable(by(halting, "insert")),
  loss_sample: readable(by(halting, "insert", "delete")),
  restriction: readable(by(["operations"], "insert", "update (ended_us, ended)")),
};

const subjectKeyRights = ["insert (id, person, wrapped)", "update (wrapped, told)"] as const; // of audit_subject_key

const audit: Readonly<Record<string, TableGrants>> = {
  audit_entry: readable(),
  audit_head: readable(),
  audit_checkpoint: readable(),
  audit_tile: readable(by(["operations"], "insert", "update (hashes)")),
  audit_subject_key: secretOf(["operations"], by(["operations"], ...subjectKeyRights)),
  audit_standing: readable(by(["operations"], ...kept)),
  audit_closed_log: readable(),
  audit_anew_request: readable(by(["operations"], "insert")),
};

const orders: Readonly<Record<string, TableGrants>> = {
  oms_key: readable(by(["oms"], ...free)),
  // The engine notes on the order up to which approval it took back what was reserved.
  oms_order: readable({
    ...by(["oms"], ...kept),
    ...by(["riskengine"], "update (state, is_open, updated_us, content)"),
  }),
  oms_fund: readable(by(["oms"], ...kept)),
  oms_fill: readable(by(["oms"], "insert")),
  oms_quote: readable(by(["oms"], "insert")),
  oms_quote_due: readable(by(["oms"], "insert", "delete")),
  oms_position: readable(by(["oms"], ...kept)),
  oms_report_cursor: readable(by(["oms"], ...kept)),
  oms_signal: readable(by(["oms"], ...free)),
  oms_signal_fund: readable(by(["oms"], ...kept)),
  corporate_action: readable(by(booking, ...kept)),
  stop: readable({ ...by(["operations"], ...kept), ...by(["oms"], "update") }),
};

/** The paper broker's books lie in order management's process. */
const paper: Readonly<Record<string, TableGrants>> = {
  paper_head: readable(by(["oms"], "update (cursor, arrivals, begun, hide_next)")),
  paper_order: readable(by(["oms"], ...kept)),
  paper_report: readable(by(["oms"], "insert")),
  paper_position: readable(by(["oms"], ...kept)),
  paper_print: readable(by(["oms"], ...kept)),
  paper_lag: readable(by(["oms"], ...kept)),
  paper_weather: readable(by(["oms"], ...kept)),
  paper_market: readable(),
  paper_action: readable(by(["oms"], "insert")),
  paper_injection: readable(by(["operations"], ...free)),
  paper_drill_row: readable(by(["operations"], ...free)),
};

const treasury: Readonly<Record<string, TableGrants>> = {
  // Operations answers for reference data where there is no treasury.
  reference_version: readable(by([...booking, "operations"], "insert")),
  reference_request: readable(by(["treasury", "operations"], "insert")),
  reference_head: readable(by([...booking, "operations"], ...kept)),
  reference_change: readable(),
  treasury_holding: readable(by(booking, ...kept)),
  treasury_entry: readable(by(booking, "insert")),
  treasury_posting: readable(by(booking, "insert")),
  treasury_balance: readable(by(booking, ...kept)),
  treasury_strategy_holding: readable(by(booking, ...kept)),
  treasury_fund: readable(by(booking, ...kept)),
  treasury_nav: readable(by(["treasury"], ...free)),
  treasury_import: readable(by(["treasury"], "insert")),
  treasury_waiting_fill: readable(by(["treasury"], "insert", "delete")),
};

const research: Readonly<Record<string, TableGrants>> = {
  research_strategy: readable(by(["research"], ...kept)),
  research_signal: readable(by(["research"], ...free)),
  research_skill: readable(by(["research"], ...kept)),
  research_backtest: readable(by(["research"], ...kept)),
  research_daily_signal: readable(by(["research"], ...kept)),
};

const workers: Readonly<Record<string, TableGrants>> = {
  reconcile_difference: readable(by(["operations"], ...kept)),
  reconcile_look: readable(by(["operations"], ...kept)),
  reconcile_agreement: readable(by(["operations"], ...kept)),
  flatten: readable(by(["operations"], ...kept)),
  flatten_line: readable(by(["operations"], ...kept)),
  drill: readable(by(["operations"], "insert")),
  first_seen: readable(by(["operations"], "insert", "delete")),
  filing_record: readable(by(["operations"], "insert")),
  filing_step: readable(by(["operations"], "insert")),
  filing_switch: readable(by(["operations"], "insert")),
  filing_file: readable(by(["operations"], "insert")),
  filing_closing: readable(by(["operations"], "insert")),
  filing_sending: readable(by(["operations"], "insert")),
  filing_feedback: readable(by(["operations"], "insert")),
  filing_rejection: readable(by(["operations"], "insert")),
  filing_correction: readable(by(["operations"], "insert")),
  filing_settings: readable(by(["operations"], "insert")),
  kept_books: readable(by(["operations"], "insert", "delete")),
  market_minute: readable(by(["operations"], "insert", "delete")),
  market_slice: readable(by(["operations"], "insert", "delete")),
  market_news: readable(by(["operations"], "insert", "delete")),
  market_hour: readable(by(["operations"], "insert")),
  watchdog_watch: readable(by(["operations"], ...free)),
  watchdog_pause: readable(by(["operations"], ...free)),
  watchdog_episode: readable(by(["operations"], ...kept)),
  watchdog_pnl: readable(by(["operations"], ...kept)),
};

const gatewaysAndBots: readonly StoreProcess[] = ["gateway", "bots"];
const ofBots = (write: Writers): TableGrants => ({ read: gatewaysAndBots, write });

/** The gateway adds and never changes; all the rest is the bots'. */
const githubbot: Readonly<Record<string, TableGrants>> = {
  bot_installation: ofBots(by(["gateway"], "insert")),
  bot_pause: ofBots(by(["gateway"], "insert")),
  bot_delivery: ofBots({ ...by(["gateway"], "insert"), ...by(["bots"], "update (status, content)", "delete") }),
  bot_run: ofBots(by(["bots"], ...kept)),
  bot_intent: ofBots(by(["bots"], ...kept)),
  bot_thread: ofBots(by(["bots"], ...kept)),
  bot_day: ofBots(by(["bots"], ...kept)),
  bot_spend: ofBots(by(["bots"], ...kept)),
  bot_redelivery: ofBots(by(["bots"], ...free)),
};

/** By the table's name. */
export const tableGrants: Readonly<Record<string, TableGrants>> = {
  ...bus,
  ...identity,
  ...risk,
  ...audit,
  ...orders,
  ...paper,
  ...treasury,
  ...research,
  ...workers,
  ...githubbot,
  migrations: ownersOnly,
  installation: ownersOnly,
  service_login: ownersOnly,
  guarded_row: ownersOnly,
  guarded_acceptance: ownersOnly,
  platform_mode: ownersOnly,
};

/** Functions that somebody calls, with the types of their arguments; those of triggers are nobody's. */
export const functionGrants: Readonly<Record<string, readonly StoreProcess[]>> = {
  // Those that only triggers and other functions call.
  "guard_digest(jsonb)": [],
  "guard_has_event(text[], text[])": [],
  "guard_move(text, text, bytea, text, bytea, bigint)": [],
  "guard_binds()": [],
  "guard_is_proven(text, text, boolean)": [],
  "use_code_answer(text, text, text, text[])": [],
  "lift_is_proven(text[], text, text, text)": [],
  "lift_halts(text[], bigint, text, text, text)": halting,
  "guard_differences()": [...halting, "gateway"],
  "guard_change_id(text, text, text, bytea)": [...halting, "gateway"],
  // Who signs writes as the gateway, who uses it up is operations: neither accepts alone what it changed.
  "guard_signed()": ["operations"],
  "guard_accept()": ["operations"],
  "ask_code(uuid, text, text, text, jsonb, text)": halting,
  "trim_outbox(bigint, integer)": ["operations"],
  "trim_history(bigint, integer)": ["operations"],
  "risk_append(bigint, uuid, risk_entry[])": ["riskengine"],
  "risk_take_pen(text, bigint)": ["riskengine"],
  "risk_move_pen(bigint, bigint)": ["riskengine"],
  "risk_journal_before(bigint)": all,
  // Of the index alone.
  "audit_entry_fund(text, bytea)": ["operations"],
  "audit_take_pen(text, bigint)": ["operations"],
  "audit_append(bigint, bigint, audit_row[], bigint, text, text)": ["operations"],
  "audit_put_checkpoint(bigint, bigint, text, bigint)": ["operations"],
  "audit_repair_index(bigint, audit_index_row[])": ["operations"],
  "audit_begin_anew(bigint, bigint, audit_row[], bigint, text, text, bigint)": ["operations"],
};

/** Numbers that a service takes by itself. */
export const sequenceGrants: Readonly<Record<string, readonly StoreProcess[]>> = {};
