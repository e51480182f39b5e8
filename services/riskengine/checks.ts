// CheckOrder and CheckOrders: decide at once, remember it durably, answer. Between reading the books and reserving in them nothing is
// awaited; the answer is encoded before the commit begins and leaves when it has ended.
//
//  1. No answer leaves before its decision is durable; a dry run spends and writes nothing, and answers at once unless it is a duplicate.
//  2. What cannot be decided now is refused before it touches the books.
//  3. A duplicate is answered with the first decision under its key; while that one still waits for the risk officer, so does the duplicate.
//  4. The risk officer has the envelope's time and no more; beyond so many questions at once nobody is asked.
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import { type Order, RiskDecision } from "../../contracts/src/generated/svc/v1/order.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { minusMilliseconds } from "../../contracts/src/instant.ts";
import { type PlatformService, sourceOfActor } from "../../contracts/src/platform-services.ts";
import { inputsOf } from "../../core/engine/decision.ts";
import type { Checked, Engine } from "../../core/engine/engine.ts";
import { createDecisionPacker } from "../../core/engine/fast/decision-bytes.ts";
import { bytesOfBody, bytesOfHash } from "../../core/engine/fast/order-hash.ts";
import type { Asker } from "../../core/orders/waiting-exits.ts";
import type { Verdict } from "../../core/state/view.ts";
import type { JournalEntry } from "../../ports/risk-store.ts";
import type { EncodedAnswer, RpcCall } from "../../ports/rpc.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { TouchedOrders } from "../shared/touched-orders.ts";
import type { Alarms } from "./alarms.ts";
import type { Figures } from "./figures.ts";
import type { HaltWatch } from "./halt-watch.ts";
import type { InFlightCalls } from "./in-flight-calls.ts";
import { createRecordPacker } from "./journal/decision-record.ts";
import type { GroupCommit } from "./journal/group-commit.ts";
import { type AskRiskOfficer, noVerdict } from "./officer.ts";

/** A key counts as seen for this long. */
export const keyWindowMs = 300_000;
const askingMax = 64;
/** Duplicates that wait for the risk officer's word on their first, or for the store to find it. */
const duplicatesMax = 256;

interface ChecksOptions {
  readonly ports: Pick<ServicePorts, "clock" | "timers" | "random" | "riskStore" | "log" | "stopwatch">;
  readonly engine: Engine;
  readonly commit: GroupCommit;
  readonly inFlight: InFlightCalls;
  readonly halts: Pick<HaltWatch, "freshen">;
  readonly figures: Figures;
  readonly alarms: Alarms;
  readonly askRiskOfficer: AskRiskOfficer;
  readonly touched: Pick<TouchedOrders, "refused">;
}

interface Ask {
  readonly order: Order;
  readonly call: RpcCall;
  readonly resolve: (answer: EncodedAnswer | Promise<EncodedAnswer>) => void;
  readonly reject: (thrown: unknown) => void;
}

interface Checks {
  check(order: Order, call: RpcCall): Promise<EncodedAnswer>;
  /** Orders whose reservation waits for the risk officer. */
  asking(): number;
  /** Refuses new ones and waits for those that the risk officer holds. */
  stop(): Promise<void>;
}

export function createChecks(options: ChecksOptions): Checks {
  const { ports, engine, commit, inFlight, halts, figures } = options;
  const { clock, random } = ports;
  const packer = createDecisionPacker();
  const packRecord = createRecordPacker();
  /** By key: who waits for the risk officer, until the decision is durable or withdrawn. */
  const vetoing = new Map<string, Promise<unknown>>();
  /** What arrived together is decided together, one after the other: code and books that are in the processor's cache are far quicker. */
  let gathered: Ask[] = [];
  let asking = 0;
  let duplicates = 0;
  /** Ends the waiting of those whom the risk officer holds. */
  const waits = new Set<AbortController>();
  let isStopping = false;

  function check(order: Order, call: RpcCall): Promise<EncodedAnswer> {
    return new Promise((resolve, reject) => {
      gathered.push({ order, call, resolve, reject });
      if (gathered.length === 1) ports.timers.soon(decideGathered);
    });
  }

  function decideGathered(): void {
    const pause = commit.pause();
    if (pause !== undefined) {
      void pause.then(decideGathered);
      return;
    }
    const asks = gathered;
    gathered = [];
    for (const ask of asks) {
      try {
        decide(ask);
      } catch (thrown) {
        ask.reject(thrown);
      }
    }
  }

  function decide({ order, call, resolve, reject }: Ask): void {
    const refused = refusal(call);
    if (refused !== undefined) {
      figures.refusedEarly();
      reject(refused);
      return;
    }
    const at = clock.now();
    halts.freshen(at);
    const checked = engine.check(order, at, askerOf(call));
    if (checked.dryRun) resolve(answerDryRun(checked));
    else if (checked.outcome === "ask") {
      resolve(hold(order.idempotency_key, askAndFinish(checked, call.requestBytes)));
    } else if (checked.duplicate !== "no") resolve(finishDuplicate(checked, call.requestBytes));
    else settle(checked, call.requestBytes, resolve, reject);
  }

  function refusal(call: RpcCall): Fault | undefined {
    if (call.isGone()) return new Fault("CANCELLED", "The caller was gone before the check.", { retry: "later" });
    if (isStopping) return stopping();
    return commit.complaint();
  }

  function answerDryRun(checked: Checked): Promise<EncodedAnswer> {
    figures.dryRun();
    const answer: EncodedAnswer = { encoded: packer.pack(checked, random.uuid()) };
    if (checked.duplicate !== "same order") return Promise.resolve(answer);
    return amongDuplicates(async () => {
      await vetoing.get(checked.order.idempotency_key);
      // It has no commit of its own to wait for, and its first may still be on its way into the journal.
      await inFlight.cleared();
      return withOriginal(answer, checked);
    });
  }

  function finish(checked: Checked, request: Uint8Array): Promise<EncodedAnswer> {
    return new Promise((resolve, reject) => settle(checked, request, resolve, reject));
  }

  /**
   * The decision is made; from here to its answer it is in a lane, so that a halt can wait for it. Nothing is promised in between: every promise
   * on the way of an order is paid for by all of them.
   */
  function settle(checked: Checked, request: Uint8Array, resolve: Ask["resolve"], reject: Ask["reject"]): void {
    const { order } = checked;
    const decisionId = random.uuid();
    const encoded = packer.pack(checked, decisionId);
    const entry: JournalEntry = {
      kind: "decision",
      at: checked.at,
      fundId: order.fund_id,
      orderId: order.order_id,
      keyHash: bytesOfHash(checked.keyHash),
      bodyHash: bytesOfBody(checked.bodyHash),
      decisionId,
      approved: checked.outcome === "approved",
      code: checked.code,
      payload: packRecord(request, encoded, inputsOf(checked), checked.asker.actor),
    };
    const lane = inFlight.enter();
    commit.add(entry, checked).then(
      () => {
        inFlight.leave(lane);
        figures.decided(checked);
        if (checked.code === "THROTTLE_TRIPPED") {
          options.alarms.raise("STRATEGY_THROTTLED", order.strategy_id, checked.reason);
        }
        if (checked.code === "ORDER_NOT_YOURS") {
          options.touched.refused(sourceOfActor(checked.asker.actor), order.order_id);
        }
        resolve({ encoded });
      },
      (thrown: unknown) => {
        inFlight.leave(lane);
        reject(thrown);
      },
    );
  }

  function finishDuplicate(checked: Checked, request: Uint8Array): Promise<EncodedAnswer> {
    return amongDuplicates(async () => {
      // Its first comes first in the journal too.
      await vetoing.get(checked.order.idempotency_key);
      const answer = await finish(checked, request);
      return checked.duplicate === "same order" ? withOriginal(answer, checked) : answer;
    });
  }

  async function amongDuplicates(answering: () => Promise<EncodedAnswer>): Promise<EncodedAnswer> {
    if (duplicates >= duplicatesMax) {
      throw new Fault("RESOURCE_EXHAUSTED", `${duplicates} duplicates wait, as many as may.`, { retry: "later" });
    }
    duplicates += 1;
    try {
      return await answering();
    } finally {
      duplicates -= 1;
    }
  }

  async function withOriginal(answer: EncodedAnswer, checked: Checked): Promise<EncodedAnswer> {
    const since = minusMilliseconds(checked.at, keyWindowMs);
    const found = await ports.riskStore.decisionByKey(bytesOfHash(checked.keyHash), since);
    const first = found === undefined ? undefined : DecisionRecord.decode(found).decision;
    if (first === undefined) {
      // It was withdrawn, or its window ended in between: the key is free again, and asking again will be a first time.
      ports.log.warn("the first decision of a duplicate was not found", { order_id: checked.order.order_id });
      return answer;
    }
    const decision = RiskDecision.decode(answer.encoded);
    return { encoded: RiskDecision.encode({ ...decision, original: { ...first, original: undefined } }).finish() };
  }

  /** Never rejects to those who wait on it: they only want to know when it is over. */
  function hold(key: string, answering: Promise<EncodedAnswer>): Promise<EncodedAnswer> {
    const over = answering.then(
      () => undefined,
      () => undefined,
    );
    vetoing.set(key, over);
    void over.then(() => {
      if (vetoing.get(key) === over) vetoing.delete(key);
    });
    return answering;
  }

  async function askAndFinish(asked: Checked, request: Uint8Array): Promise<EncodedAnswer> {
    let verdict: Verdict;
    try {
      verdict = await ask(asked);
      // A process that ends does not wait for an officer, and does not decide without one.
      if (isStopping) throw stopping();
      // Nothing is decided while the books cannot be written, not even what a gate is still missing.
      const complaint = commit.state() === "open" ? undefined : commit.complaint();
      if (complaint !== undefined) throw complaint;
    } catch (thrown) {
      engine.withdraw(asked);
      throw thrown;
    }
    await commit.pause();
    const at = clock.now();
    halts.freshen(at);
    return finish(engine.conclude(asked, verdict, at), request);
  }

  async function ask(asked: Checked): Promise<Verdict> {
    if (asking >= askingMax) return noVerdict(`${asking} orders wait for the risk officer, as many as may`, 0);
    asking += 1;
    const startedUs = ports.stopwatch();
    const tookMs = () => (ports.stopwatch() - startedUs) / 1_000;
    const timeoutMs = asked.envelope?.croVetoTimeoutMs ?? 0;
    const giveUp = new AbortController();
    const answered = new AbortController();
    waits.add(answered);
    const timeout = ports.timers
      .sleep(timeoutMs, answered.signal)
      .then(() => noVerdict(`no answer within ${timeoutMs} ms`, tookMs()));
    try {
      return await Promise.race([options.askRiskOfficer(asked, giveUp.signal), timeout]);
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      ports.log.warn("the risk officer could not be asked", { error: messageOf(thrown) });
      const isUnreadable = thrown instanceof Fault && thrown.code === "MODEL_UNREADABLE";
      return { ...noVerdict(messageOf(thrown), tookMs()), kind: isUnreadable ? "unreadable" : "timeout" };
    } finally {
      asking -= 1;
      waits.delete(answered);
      answered.abort();
      giveUp.abort();
    }
  }

  return {
    check,
    asking: () => vetoing.size,
    stop: async () => {
      decideGathered();
      isStopping = true;
      for (const wait of waits) wait.abort();
      await Promise.all(vetoing.values());
    },
  };
}

/** Order management sends what is approved, so its exits go before those that somebody else may send or not. */
function askerOf({ identity: { kind, name, actor } }: RpcCall): Asker {
  return { actor, isPlatform: kind === "service" && name === ("oms" satisfies PlatformService) };
}

function stopping(): Fault {
  return new Fault("SERVICE_STOPPING", "The risk engine is shutting down.", { retry: "later" });
}
