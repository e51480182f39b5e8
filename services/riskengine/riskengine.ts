// The risk engine's shell: the deterministic engine in the middle, around it what makes its decisions durable, what it hears, and the
// procedures by which it is asked. Here the parts are put together; each of them is a file of its own.
import { type Decimal, fromNumber, parse as parseDecimal } from "../../contracts/src/decimal.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import type {
  Exposures,
  HeadroomRequest,
  LimitUseRequest,
  LimitUses,
  ListLossesRequest,
  Loss,
  Losses,
} from "../../contracts/src/generated/svc/v1/riskengine.ts";
import { parse } from "../../contracts/src/instant.ts";
import { createEngine, type Engine } from "../../core/engine/engine.ts";
import { exposureUse, inOrder, lossUse, unusedLimits } from "../../core/engine/limit-use.ts";
import { leastLoss } from "../../core/engine/other-end.ts";
import { compileEnvelope } from "../../core/envelope/envelope.ts";
import { drillFundId } from "../../core/halts/halts.ts";
import { isAhead } from "../../core/state/dated.ts";
import type { Health } from "../../ports/health.ts";
import type { UnaryHandler } from "../../ports/rpc.ts";
import { fundsHalted } from "../halts/halt-request.ts";
import { createAttempts } from "../shared/attempts.ts";
import { type Parts, startParts } from "../shared/parts.ts";
import type { RunningService, Service, ServicePorts } from "../shared/service.ts";
import { createTouchedOrders } from "../shared/touched-orders.ts";
import { breathe } from "../shared/waiting.ts";
import { type Alarms, createAlarms } from "./alarms.ts";
import { createApprovalEvents } from "./approvals/approval-events.ts";
import { type RunningApprovals, startApprovals } from "./approvals/approvals.ts";
import { createEndApproval, type EndApproval } from "./approvals/end-approval.ts";
import { heardTime } from "./approvals/heard-time.ts";
import { createAcceptBlock } from "./blocks/accept-block.ts";
import { createFillBlocks } from "./blocks/fill-blocks.ts";
import { createFundBlocks } from "./blocks/fund-blocks.ts";
import { createChecks, keyWindowMs } from "./checks.ts";
import { type StartedSource, startConditionSources } from "./condition-sources.ts";
import { createEnvelopes } from "./envelopes.ts";
import { createFigures, type Figures } from "./figures.ts";
import { foreignParts } from "./foreign/foreign-parts.ts";
import { createForeignPosition } from "./foreign/foreign-position.ts";
import { haltStatusOf } from "./halt-status.ts";
import { type HaltWatch, watchHalts } from "./halt-watch.ts";
import { createHalts, type Halts } from "./halts.ts";
import { createInFlightCalls } from "./in-flight-calls.ts";
import { hearInputs } from "./inputs.ts";
import { type GroupCommit, groupCommit } from "./journal/group-commit.ts";
import { isEntry, newestEntry } from "./journal/journal-end.ts";
import { type Recovered, recover, verifySnapshot } from "./journal/recovery.ts";
import { createSnapshots } from "./journal/snapshots.ts";
import { createListBlocks } from "./list-blocks.ts";
import { createDrawdown } from "./losses/drawdown.ts";
import { createListLosses } from "./losses/list-losses.ts";
import { createReserveWithdrawal } from "./losses/withdrawals.ts";
import type { AskRiskOfficer } from "./officer.ts";
import { createHandOver } from "./ownership/hand-over.ts";
import { createOrderOwnership } from "./ownership/order-ownership.ts";
import { createPreviewLimits } from "./preview/preview-limits.ts";
import { type ReferenceWatch, watchReference } from "./reference-watch.ts";
import { watchRestrictions } from "./restriction-watch.ts";
import { riskOfficer } from "./risk-officer.ts";
import { withSafetyLooks } from "./safety-looks.ts";
import { seedEnvelopes } from "./seed-envelopes.ts";
import { createReleaseThrottle } from "./throttles.ts";

/** A clean end gives the store this long to finish what is in hand. */
const finishMsMax = 4_000;
/** Up to so many entries the comparison with the recomputation comes before the first check. */
const verifyEntriesFirst = 20_000;

export const riskengine: Service = {
  name: "riskengine",
  sentence: "Checks every order against seven gates before it may be sent.",
  needs: [],
  start: (ports) => startRiskEngine(ports, riskOfficer(ports)),
};

export function startRiskEngine(ports: ServicePorts, askRiskOfficer: AskRiskOfficer): Promise<RunningService> {
  return startParts(ports, (parts) => assemble(ports, askRiskOfficer, parts));
}

function newEngine({ settings, blake3, stopwatch }: ServicePorts): Engine {
  const { markAgeMsMax, navAgeMsMax, fxAgeMsMax, borrowAgeMsMax, approvalValidMs, openOrdersPerFundMax } =
    settings.risk;
  const { valueUnexplainedMax, priceJumpMax } = settings.risk;
  return createEngine({
    blake3,
    stopwatch,
    ages: { mark: markAgeMsMax, nav: navAgeMsMax, fx: fxAgeMsMax, borrow: borrowAgeMsMax },
    keyWindowMs,
    approvalValidMs,
    openOrdersPerFundMax,
    valueUnexplainedMax: fromNumber(valueUnexplainedMax),
    priceJumpMax: fromNumber(priceJumpMax),
  });
}

async function assemble(ports: ServicePorts, askRiskOfficer: AskRiskOfficer, parts: Parts) {
  const engine = newEngine(ports);
  const figures = createFigures(ports.metrics, ports.timers);
  const alarms = parts.add("alarms", createAlarms(ports));
  const attempts = createAttempts(ports, "risk");
  const inFlight = createInFlightCalls();
  const eachLook = (): void => figures.openOrders(engine.facts().openOrders);
  const reference = parts.add("reference data", await watchReference(ports, engine, eachLook));
  await seedEnvelopes(ports);
  const envelopes = parts.add("envelopes", await createEnvelopes({ ports, engine, attempts, reference }));
  const { looks, riskStore } = withSafetyLooks(ports);
  const halted = watchHalts({ ...ports, riskStore }, engine, envelopes.readAgain, figures.haltEpoch);
  const watch = parts.add("halts", await halted);
  const standing = withRestrictions(watch, parts.add("restrictions", await watchRestrictions(ports, engine, looks)));
  const sources = await startConditionSources({ ports, engine, alarms, looks }, parts);
  const incarnation = ports.random.uuid();
  const recovered = await recover(ports, engine, incarnation, keyWindowMs);
  const drawdown = parts.add("losses", await createDrawdown({ ports, engine, envelopes, reference, watch, alarms }));
  await rememberValues(ports, engine);
  parts.add("verification", await beginVerifying(ports, recovered, watch, alarms));

  const { commit, snapshots, setUnwritten } = durableParts(ports, engine, recovered, figures, alarms);
  parts.add("snapshots", { stop: () => snapshots.takeLast() });
  parts.add("journal", { stop: () => commit.stop(finishMsMax) });
  const touched = parts.add("touched orders", createTouchedOrders(ports, tellTouched(alarms)));
  const shown = { figures, alarms, touched };
  const checks = createChecks({ ports, engine, commit, inFlight, halts: standing, askRiskOfficer, ...shown });
  const halts = parts.add("halt requests", createHalts({ ports, watch, inFlight, attempts, reference, incarnation }));
  const events = createApprovalEvents(ports);
  const fillBlocks = createFillBlocks({ ports, engine, commit, alarms, events });
  const ownership = await createOrderOwnership({ ports, engine });
  const fundBlocks = createFundBlocks({ ports, engine, commit, events });
  const outside = foreignParts({ ports, engine, reference, ownership, touched }, fundBlocks);
  parts.add("held fills", outside.heldFills);
  parts.add("gap blocks", outside.gapBlocks);
  parts.add("events of others", outside.notYours);
  const hearing = hearInputs({ ports, engine, commit, alarms, reference, figures, fillBlocks, ...outside, drawdown });
  const inputs = parts.add("inputs", await hearing);
  const waiting = { events, heard: heardTime(inputs.ofOrders), touched };
  const approvals = parts.add("approvals", startApprovals({ ports, engine, commit, attempts, alarms, ...waiting }));
  // They end first: what is asked is answered while everything that answers it is there.
  parts.add("checks", checks);
  events.makeUp(recovered.approvals);
  const endApproval = createEndApproval({ ports, engine, commit, attempts, events });
  setUnwritten(() => checks.asking() + unwrittenIn(inputs, approvals, endApproval) + events.unpublished());
  const listLosses = createListLosses({ ports, envelopes, reference, drawdown });
  const handlers = {
    CheckOrder: checks.check,
    CheckOrders: checks.check,
    GetEnvelope: envelopes.getEnvelope,
    UpdateEnvelope: envelopes.updateEnvelope,
    ...haltHandlers(halts, haltStatusOf({ clock: ports.clock, watch, reference })),
    GetHeadroom: headroomOf(ports, engine, standing, reference),
    ReleaseThrottle: createReleaseThrottle({ ports, engine, commit, attempts, alarms, reference }),
    ...approvalHandlers(approvals, endApproval),
    HandOverSource: createHandOver({ ports, engine, attempts, ownership }),
    GetForeignPosition: createForeignPosition(ports, reference),
    ListLosses: listLosses,
    GetLimitUse: limitUseOf(ports, engine, standing, listLosses),
    ...internalHandlers(ports, engine, reference),
    AcceptBlock: createAcceptBlock({ ports, engine, commit, attempts, events }),
    ListBlocks: createListBlocks({ ports, engine, watch: standing, commit }),
    ListExposures: exposuresOf(engine),
  } satisfies Record<string, UnaryHandler>;
  return {
    rpc: [{ name: "RiskEngine", handlers, fundsOf: fundsOfRequests(engine) }],
    leased: watch.leased,
    health: () => healthOf(commit, standing, [...sources, outside.gapBlocks, outside.heldFills]),
  };
}

const unwrittenIn = (...parts: readonly { unwritten(): number }[]): number =>
  parts.reduce((sum, part) => sum + part.unwritten(), 0);

function fundsOfRequests(engine: Engine) {
  const ofApproval = async ({ order_id: orderId }: { readonly order_id: string }) => {
    const approval = engine.approval(orderId);
    return approval && [approval.fund_id];
  };
  return { RequestHalt: fundsHalted, ConfirmSent: ofApproval, ReleaseApproval: ofApproval };
}

/** What our own services ask. */
function internalHandlers(ports: ServicePorts, engine: Engine, reference: ReferenceWatch) {
  return {
    ReserveWithdrawal: createReserveWithdrawal(ports, engine),
    PreviewLimits: createPreviewLimits({ ports, engine, reference }),
  } satisfies Record<string, UnaryHandler>;
}

function approvalHandlers(approvals: RunningApprovals, endApproval: EndApproval) {
  return {
    ConfirmSent: approvals.confirmSent,
    ReleaseApproval: approvals.releaseApproval,
    EndApproval: endApproval.end,
    ListApprovals: approvals.listApprovals,
  } satisfies Record<string, UnaryHandler>;
}

function haltHandlers(halts: Halts, getHaltStatus: ReturnType<typeof haltStatusOf>) {
  return {
    RequestHalt: halts.requestHalt,
    ResumeHalt: halts.resumeHalt,
    AnnounceHalt: halts.announceHalt,
    ConfirmHalts: halts.confirmHalts,
    GetHaltStatus: getHaltStatus,
  } satisfies Record<string, UnaryHandler>;
}

/** A value from the future was kept before the clock was set back: it is none, and the next one counts. */
async function rememberValues({ riskStore, clock }: ServicePorts, engine: Engine): Promise<void> {
  const navs = (await riskStore.navs()).filter(({ as_of }) => !isAhead(parse(as_of), clock.now()));
  // Of a price that two funds hold the newest counts.
  for (const nav of navs.toSorted((one, other) => parse(one.as_of) - parse(other.as_of))) engine.values.remember(nav);
}

function exposuresOf(engine: Engine) {
  return async (): Promise<Exposures> => ({ lines: [...engine.lines()], held_symbols: [...engine.heldSymbols()] });
}

/** What must be young for new risk to pass: halts and restrictions. */
type Standing = Pick<HaltWatch, "freshen" | "health">;

function withRestrictions(halts: Standing, restrictions: Standing): Standing {
  return {
    freshen(at) {
      halts.freshen(at);
      restrictions.freshen(at);
    },
    health() {
      const health = halts.health();
      return health.status === "ok" ? restrictions.health() : health;
    },
  };
}

function durableParts(ports: ServicePorts, engine: Engine, recovered: Recovered, figures: Figures, alarms: Alarms) {
  const { riskStore, settings, timers, crash, log } = ports;
  // Until the parts that could tell are there, no snapshot is taken.
  let unwritten = (): number => 1;
  const die = (defect: Defect): void => {
    // One turn later, so that callers have a fair chance to hear that they were not answered.
    timers.after(0, () => crash.die(defect));
  };
  const commit: GroupCommit = groupCommit({
    ...ports,
    writerEpoch: recovered.writerEpoch,
    undecidedMax: settings.risk.undecidedMax,
    withdraw: (checked) => engine.withdraw(checked),
    async retakeWriterEpoch(own) {
      const writerEpoch = await riskStore.takeWriterEpoch(ports.random.uuid());
      const newest = await newestEntry(riskStore, recovered.last);
      if (own === undefined) return newest === undefined ? writerEpoch : undefined;
      return newest !== undefined && isEntry(newest, own) ? writerEpoch : undefined;
    },
    onTakenOver(fault) {
      log.error("another risk engine has the writer epoch; this one ends", { error: fault.message });
      die(new Defect("another risk engine has taken the writer epoch"));
    },
    onStalled: () =>
      alarms.raise(
        "STORE_OUT_OF_REACH",
        "journal",
        "The store does not answer a commit: no order is decided, no exit either.",
      ),
    onDefect: die,
    onCommitted(entryCount, microseconds) {
      alarms.clear("STORE_OUT_OF_REACH", "journal");
      figures.committed(entryCount, microseconds);
      figures.undecided(commit.undecided());
      snapshots.counted(entryCount);
    },
  });
  const snapshots = createSnapshots({
    ports,
    engine,
    commit,
    unwritten: () => unwritten(),
    everyEntries: settings.risk.snapshotEveryEntries,
    last: recovered.snapshot?.through ?? 0n,
    entriesSince: recovered.entriesSince,
  });
  return {
    commit,
    snapshots,
    setUnwritten: (count: () => number): void => {
      unwritten = count;
    },
  };
}

/** Undefined when nothing was restored from a snapshot. */
async function beginVerifying(
  ports: ServicePorts,
  { snapshot }: Recovered,
  watch: HaltWatch,
  alarms: Alarms,
): Promise<{ stop(): Promise<void> } | undefined> {
  if (snapshot === undefined) return undefined;
  const ending = new AbortController();
  const fresh = newEngine(ports);
  fresh.setReference(await ports.referenceData.read());
  for (const record of await ports.riskStore.envelopes()) fresh.setEnvelope(compileEnvelope(record));
  const verification = await verifySnapshot(ports, {
    snapshot,
    fresh,
    entriesFirst: verifyEntriesFirst,
    onMismatch(sentence) {
      watch.distrust(sentence);
      alarms.raise("STATE_MISMATCH", "riskengine", `${sentence} New risk is denied until this is settled.`);
    },
    signal: ending.signal,
  });
  return {
    async stop() {
      ending.abort();
      await verification.done;
    },
  };
}

/** Each call is an alarm of its own. */
function tellTouched(alarms: Alarms): (source: string, sentence: string) => void {
  return (source, sentence) => {
    alarms.clear("ORDER_OF_ANOTHER", source);
    alarms.raise("ORDER_OF_ANOTHER", source, sentence);
  };
}

function headroomOf(
  { clock }: ServicePorts,
  engine: Engine,
  watch: Standing,
  reference: Pick<ReferenceWatch, "currencyOf">,
) {
  return async ({ fund_id: fundId, symbol, side = "BUY" }: HeadroomRequest) => {
    if (!["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"].includes(side)) {
      throw new Fault("INVALID_ARGUMENT", "The side is BUY, SELL, SELL_SHORT or BUY_TO_COVER.", { retry: "never" });
    }
    if (reference.currencyOf(symbol) === undefined) {
      throw new Fault("NOT_FOUND", `There is no instrument ${JSON.stringify(symbol)}.`, { retry: "never" });
    }
    const at = clock.now();
    watch.freshen(at);
    return engine.headroom({ fundId, symbol, side }, at);
  };
}

/** Reported in one answer at most. */
const usesMax = 10_000;
/** Symbols that are valued before the engine goes on deciding. */
const symbolsPerTurn = 100;

function limitUseOf(
  { clock, timers }: ServicePorts,
  engine: Engine,
  watch: Standing,
  listLosses: (request: ListLossesRequest) => Promise<Losses>,
) {
  return async ({ fund_id: asked }: LimitUseRequest): Promise<LimitUses> => {
    // It knows the funds, and refuses one that is none.
    const { losses } = await listLosses({ fund_id: asked });
    const rows = losses.flatMap((loss) => lossUse(loss, clock.now(), otherLoss(engine, loss)));
    const isAsked = (fundId: string): boolean => (asked === undefined ? fundId !== drillFundId : fundId === asked);
    const lines = engine.lines().filter((line) => isAsked(line.fund_id));
    for (const { fundId } of engine.blocks.funds().filter((fund) => isAsked(fund.fundId))) {
      rows.push(...engine.read((state) => unusedLimits(state, fundId, clock.now())));
      const symbols = lines.filter((line) => line.fund_id === fundId).map(({ symbol }) => symbol);
      for (let from = 0; from < symbols.length; from += symbolsPerTurn) {
        await breathe(timers);
        const at = clock.now();
        watch.freshen(at);
        const some = symbols.slice(from, from + symbolsPerTurn);
        rows.push(...engine.read((state) => exposureUse(state, fundId, some, at)));
      }
    }
    const uses = inOrder(rows);
    return { uses: uses.slice(0, usesMax), more: uses.length > usesMax };
  };
}

/** A strategy's loss is counted from its own profit, and the fund's equity has no other end that is known. */
function otherLoss(engine: Engine, { fund_id: fundId, limit, baseline }: Loss): Decimal | undefined {
  if (baseline === undefined || limit === "strategy" || limit === "equity") return undefined;
  return engine.read(({ books }) => leastLoss(books, fundId, parseDecimal(baseline)));
}

type Complaining = Pick<StartedSource, "health">;

function healthOf(commit: GroupCommit, watch: Standing, others: readonly Complaining[]): Health {
  const state = commit.state();
  if (state === "taken over") return { status: "failing", complaint: "another risk engine has taken over" };
  if (state === "asking") return { status: "failing", complaint: "the outcome of a commit is not known yet" };
  const health = watch.health();
  if (health.status !== "ok") return health;
  const complaints = others.flatMap((other) => other.health?.().complaint ?? []);
  return complaints.length === 0 ? health : { status: "ok", complaint: complaints.join(" ") };
}
