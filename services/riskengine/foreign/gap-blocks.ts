// Gaps in the numbering of foreign publishers keep their fund from new risk: an event that was acknowledged and is missing may be a fill, an order that is
// still working, or a loss. Which gaps there are is in the store, whoever found them; here each source, fund and kind has one block, which an operator accepts.
//
//  1. What has been missing for `graceMs` blocks, because events may arrive in another order than they were numbered in.
//  2. The gap's id is the block's: after a crash between the two nothing is blocked twice, and nothing that was accepted is blocked again.
//  3. A block says what is missing now, and changes with it under its id. It ends by itself when nothing is.
//  4. What an operator accepted is forgotten in the store, exactly. What is missing beside it is blocked anew.
//  5. Values of a source that does not value the fund may have gaps: nothing of it counts.
import { messageOf } from "../../../contracts/src/fault.ts";
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { BlockedGap } from "../../../contracts/src/records/block.ts";
import { valuerOf } from "../../../contracts/src/records/reference.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { acceptGap, type OpenGap, openGaps, rangeText } from "../../../core/foreign/numbering.ts";
import type { ForeignStream } from "../../../ports/foreign-records.ts";
import type { Health } from "../../../ports/health.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { FundBlocks } from "../blocks/fund-blocks.ts";
import type { ReferenceWatch } from "../reference-watch.ts";
import type { SpokenFor } from "./spoken-for.ts";

interface GapBlocksOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "timers" | "log" | "crash" | "random">;
  readonly engine: Pick<Engine, "acceptance">;
  readonly blocks: FundBlocks;
  readonly reference: Pick<ReferenceWatch, "fund">;
  readonly spokenFor: Pick<SpokenFor, "isOf">;
}

interface GapBlocks {
  /** A foreign event was counted. */
  wake(): void;
  /** A complaint while gaps cannot be read or blocked: then none would be found. */
  health(): Health;
  stop(): Promise<void>;
}

/** How long a missing number may still come. */
const graceMs = 2_000;
/** While something is missing, and otherwise. */
const lookEveryMs = { missing: 500, idle: 3_000 };
/** A look that fails for so long is said. */
const blindMsMax = 5_000;
const ended = "Nothing of the gap is missing any more, or another one has taken it in.";
/** A sentence has room for so many; the block names all of them. */
const shownMax = { ranges: 20, refused: 10 };

type FoundGap = ForeignStream & OpenGap;

export function watchGapBlocks({ ports, engine, blocks, reference, spokenFor }: GapBlocksOptions): GapBlocks {
  const { store, clock, log } = ports;
  const { acceptance } = engine;
  let lookedAt = clock.now();
  let trouble = "";

  /** Whether anything is missing. */
  async function look(ending: AbortSignal): Promise<boolean> {
    const positions = await store.transact("risk.foreign-look", (unit) => unit.foreign.withGaps(), {
      isOneStatement: true,
    });
    const now = clock.now();
    const gaps = positions
      .filter(isAsked)
      .flatMap((position) =>
        openGaps(position, now, graceMs).map(
          (gap): FoundGap => ({ ...gap, source: position.source, fundId: position.fundId, kind: position.kind }),
        ),
      );
    for (const gap of gaps) {
      if (ending.aborted) return true;
      if (acceptance.ended(gap.gapId) !== undefined) await forget(gap);
      else if (gap.missing.length > 0) await block(gap);
    }
    const left = new Set(gaps.map(({ gapId }) => gapId));
    for (const open of acceptance.ofCause("EVENT_GAP")) {
      if (!left.has(open.block_id)) await blocks.end(open, ended);
    }
    return gaps.length > 0;
  }

  /** Values of a source that does not value the fund count for nothing, and neither do those that are missing. */
  function isAsked({ kind, source, fundId }: ForeignStream): boolean {
    const fund = reference.fund(fundId);
    if (kind !== "values" || fund === undefined) return true;
    const valuer = valuerOf(fund);
    return valuer !== undefined && spokenFor.isOf(source, valuer);
  }

  async function block({ gapId, fundId, source, kind, missing, refused }: FoundGap): Promise<void> {
    const before = acceptance.block(gapId);
    const gap = { source, kind, missing: [...missing], refused: [...refused] };
    if (before?.gap !== undefined && isSame(before.gap, gap)) return;
    const reason = `${source} numbers its ${kind} of ${fundId}, and ${missingText(gap)} never came: an event may be lost.${refusedText(gap)} ${endsText}`;
    if (before === undefined) log.warn("events of a foreign publisher are missing", { block_id: gapId, reason });
    await blocks.openGap({ block_id: gapId, fund_id: fundId, reason }, gap);
  }

  async function forget({ source, fundId, kind, gapId }: FoundGap): Promise<void> {
    const stream = { source, fundId, kind };
    const accepted = acceptance.ended(gapId)?.accepted_missing;
    await store.transact("risk.foreign", async (unit) => {
      const position = await unit.foreign.lock(stream);
      if (position === undefined) return;
      await unit.foreign.put(stream, acceptGap(position, gapId, accepted, ports.random.uuid()), clock.now());
    });
  }

  async function run(ending: AbortSignal): Promise<number> {
    try {
      const isMissing = await look(ending);
      lookedAt = clock.now();
      trouble = "";
      return isMissing ? lookEveryMs.missing : lookEveryMs.idle;
    } catch (thrown) {
      trouble = messageOf(thrown);
      throw thrown;
    }
  }

  const loop = startLoop({
    ports,
    what: {
      failing: "gaps of foreign publishers cannot be read or blocked yet",
      working: "gaps of foreign publishers can be read and blocked again",
    },
    firstAfterMs: 0,
    run,
    troubleMsMin: lookEveryMs.missing,
    troubleMsMax: lookEveryMs.missing,
  });
  return {
    wake: loop.wake,
    health() {
      const isBlind = trouble !== "" && millisecondsBetween(lookedAt, clock.now()) >= blindMsMax;
      return isBlind
        ? { status: "ok", complaint: `Gaps in the numbers of foreign publishers cannot be looked for: ${trouble}.` }
        : { status: "ok" };
    },
    stop: loop.stop,
  };
}

const endsText =
  "Have it sent again from there, under the same number; when it cannot be, an operator accepts that it never comes.";

function isSame(one: BlockedGap, other: Omit<BlockedGap, "as_of">): boolean {
  const textOf = ({ missing, refused }: Omit<BlockedGap, "as_of">): string =>
    JSON.stringify([missing.map(rangeText), refused.map(({ number, code }) => [number, code])]);
  return textOf(one) === textOf(other);
}

function missingText({ missing }: Pick<BlockedGap, "missing">): string {
  const shown = missing.slice(0, shownMax.ranges).map(rangeText).join(", ");
  return missing.length <= shownMax.ranges ? shown : `${shown} and ${missing.length - shownMax.ranges} more ranges`;
}

function refusedText({ refused }: Pick<BlockedGap, "refused">): string {
  if (refused.length === 0) return "";
  const shown = refused.slice(0, shownMax.refused).map(({ number, code }) => `${number} (${code})`);
  const more = refused.length <= shownMax.refused ? "" : ` and ${refused.length - shownMax.refused} more`;
  return ` Refused, without using up the number: ${shown.join(", ")}${more}.`;
}
