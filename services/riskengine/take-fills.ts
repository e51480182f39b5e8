// Fills and busts move the engine's books and go to the journal, each once, whoever sends it how often.
//
//  1. A fill moves the books once: the journal knows which it has, and this knows which it could not write.
//  2. What was heard is a fact: it moves the books in the step in which it goes to the journal, and it stays moved when that fails. Until it is written the
//     books are ahead of the journal.
//  3. Ids of fills are everybody's: a fill of our own whose id a foreign program used first is booked beside it, under a key that no program can use. A foreign one is refused
//     before (foreign/foreign-events.ts).
//  4. A bust takes back the fill as the journal has it, once, and with it the blocks that the fill opened. One whose fill is not there waits in the store
//     (foreign/foreign-events.ts).
import { parse } from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { type BookedFill, bookedFill, type Fill, type FillBusted } from "../../contracts/src/records/order.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { reversalOf } from "../../core/orders/busts.ts";
import type { JournalEntry, JournalKind } from "../../ports/risk-store.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { Alarms } from "./alarms.ts";
import { sentAfterExpiry, worksAfterItsEnd } from "./approvals/approvals.ts";
import type { BlockEntry, EndEntry, FillBlocks } from "./blocks/fill-blocks.ts";
import type { GroupCommit } from "./journal/group-commit.ts";
import type { Drawdown } from "./losses/drawdown.ts";

interface TakeFillsOptions {
  readonly ports: Pick<ServicePorts, "clock" | "riskStore">;
  readonly engine: Engine;
  readonly commit: Pick<GroupCommit, "add">;
  readonly alarms: Alarms;
  readonly fillBlocks: FillBlocks;
  readonly losses: Pick<Drawdown, "hasBaselineSince">;
}

/** What moved the books: its entry, and the blocks that it opened or ended. */
interface Moved {
  readonly entry?: JournalEntry;
  readonly opened?: readonly BlockEntry[];
  readonly ended?: readonly EndEntry[];
}

interface TakeFills {
  /** Resolves when it is durable. `publisher` is the foreign program that published it. */
  fill(fill: Fill, publisher: string | undefined): Promise<void>;
  /** Does nothing when its fill is not in the journal. */
  bust(bust: FillBusted): Promise<void>;
  /** Writes what moved the books under that name. */
  write(name: string, moved: Moved): Promise<void>;
  entryOf(kind: JournalKind, heard: { readonly fund_id: string; readonly order_id: string }): JournalEntry;
  unwritten(): number;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** As the journal knows the reversal of a fill: no id of a fill has a space in it. */
const reversalIdOf = (fillId: string): string => `bust ${fillId}`;

/** The same of a fill of ours whose id is used. */
const ownIdOf = (fillId: string): string => `own ${fillId}`;

/** A fill as the journal has it. */
export async function journaledFill(
  riskStore: Pick<ServicePorts["riskStore"], "fillEntry">,
  fillId: string,
): Promise<BookedFill | undefined> {
  const bytes = await riskStore.fillEntry(fillId);
  return bytes === undefined ? undefined : bookedFill.parse(parseJson(decoder.decode(bytes)));
}

const nameOf = ({ fill_id: fillId }: Fill, publisher: string | undefined): string =>
  publisher === undefined ? `own fill ${fillId}` : `fill ${fillId}`;

export function createTakeFills(options: TakeFillsOptions): TakeFills {
  const { ports, engine, commit, alarms, fillBlocks, losses } = options;
  const { clock, riskStore } = ports;
  /** On their way into the journal, by fill; one per handler that runs. */
  const underWay = new Map<string, Promise<void>>();
  /** What moved the books and could not be written, by fill or event; the bus brings it again. */
  const unwritten = new Map<string, Moved>();

  const entryOf: TakeFills["entryOf"] = (kind, heard) => ({
    kind,
    at: clock.now(),
    fundId: heard.fund_id,
    orderId: heard.order_id,
    payload: encoder.encode(JSON.stringify(heard)),
  });

  /** A second one waits for the first: whether that one is durable decides what this one is. */
  function oneAtATime(name: string, take: () => Promise<void>): Promise<void> {
    const first = underWay.get(name);
    if (first !== undefined) return first;
    const taking = take().finally(() => underWay.delete(name));
    underWay.set(name, taking);
    return taking;
  }

  async function takeFill(fill: Fill, publisher: string | undefined): Promise<void> {
    const name = nameOf(fill, publisher);
    let moved = unwritten.get(name);
    if (moved === undefined) {
      const fillId = await freeKeyOf(fill, publisher);
      if (fillId === undefined) return;
      const record = await fillBlocks.recordOf(fill, publisher);
      const effect = engine.applyFill(fill);
      // In the same step: no order is decided between what counts and what it blocks.
      const judged = fillBlocks.judge(fill, effect, record);
      if (effect.afterExpiry) filledAfterExpiry(fill);
      if (effect.reservedAgain) sentAfterExpiry(alarms, fill.order_id, fill.fund_id);
      if (effect.worksAgain) worksAfterItsEnd(alarms, fill.order_id, fill.fund_id);
      // With where it is held: a bust must find it there, also when its order is long gone.
      const held = effect.broker === "" ? {} : { broker: effect.broker };
      const booked = publisher === undefined ? fill : { ...fill, ...held, published_by: publisher };
      moved = { entry: { ...entryOf("fill", booked), fillId }, ...judged };
    }
    await write(name, moved);
  }

  /** Invariant 3: under which the journal is to have it; undefined when it has it. */
  async function freeKeyOf({ fill_id: fillId }: Fill, publisher: string | undefined): Promise<string | undefined> {
    if (!(await riskStore.knownFills([fillId])).has(fillId)) return fillId;
    if (publisher !== undefined || (await journaledFill(riskStore, fillId))?.published_by === undefined)
      return undefined;
    const own = ownIdOf(fillId);
    return (await riskStore.knownFills([own])).has(own) ? undefined : own;
  }

  async function takeBust(bust: FillBusted): Promise<void> {
    const { fill_id: fillId } = bust;
    const id = reversalIdOf(fillId);
    let moved = unwritten.get(id);
    if (moved === undefined) {
      const known = await riskStore.knownFills([id]);
      // What it ends may have been left behind by a crash.
      if (known.has(id)) moved = { ended: fillBlocks.busted(bust) };
      else {
        const fill = await journaledFill(riskStore, fillId);
        if (fill === undefined) return;
        const reversal = reversalOf(fill, bust.bust_id);
        engine.applyReversal(reversal);
        if (losses.hasBaselineSince(fill.fund_id, parse(fill.filled_at))) bustedAfterBaseline(fill, bust.bust_id);
        moved = { entry: { ...entryOf("fill", reversal), fillId: id }, ended: fillBlocks.busted(bust) };
      }
    }
    await write(id, moved);
  }

  function bustedAfterBaseline({ fill_id, fund_id, filled_at }: Fill, bustId: string): void {
    const sentence = `Fill ${fill_id} of ${fund_id}, which traded at ${filled_at}, was taken back by bust ${bustId}. Baselines of losses that were taken since then still have it in them: compare \`ctl riskengine losses list\`, and rebase.`;
    alarms.raise("BUST_AFTER_BASELINE", bustId, sentence);
  }

  function filledAfterExpiry({ order_id, fill_id, fund_id }: Fill): void {
    const sentence = `Fill ${fill_id} is of order ${order_id} of ${fund_id}, whose approval had expired; the position has it.`;
    alarms.raise("FILL_AFTER_EXPIRY", fill_id, sentence);
  }

  /**
   * Blocks come before what they are about, and their ends behind what ends them: whatever of it is durable, no books have the fill without its
   * block.
   */
  async function write(name: string, moved: Moved): Promise<void> {
    const { entry, opened = [], ended = [] } = moved;
    try {
      const own = entry === undefined ? [] : [entry];
      const entries = [...opened.map((block) => block.entry), ...own, ...ended.map((end) => end.entry)];
      await Promise.all(entries.map((each) => commit.add(each)));
      unwritten.delete(name);
    } catch (thrown) {
      unwritten.set(name, moved);
      throw thrown;
    }
    fillBlocks.written(opened);
    fillBlocks.ended(ended);
  }

  return {
    fill: (fill, publisher) => oneAtATime(nameOf(fill, publisher), () => takeFill(fill, publisher)),
    bust: (bust) => oneAtATime(reversalIdOf(bust.fill_id), () => takeBust(bust)),
    write,
    entryOf,
    unwritten: () => unwritten.size,
  };
}
