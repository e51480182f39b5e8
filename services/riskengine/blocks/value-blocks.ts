// Values from outside that nothing explains: each keeps its fund from new risk until one is explained again, or an operator vouches for it.
//
//  1. One block a fund. It is durable before the value counts anywhere, and a value that nobody vouches for counts where it tightens.
//  2. The block shows the value that an acceptance vouches for, and no other. A value that is far from the one shown has a block of its own, in place of the
//     one before; not more often than every few seconds, so that a publisher who lies differently each time keeps nobody from reading.
//  3. A value that is explained ends it.
import { millisecondsBetween, parse } from "../../../contracts/src/instant.ts";
import type { RiskBlock } from "../../../contracts/src/records/block.ts";
import type { JudgedNav, NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import type { JudgedValue } from "../../../core/engine/vouching/judge-value.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorstEnd } from "../losses/drawdown.ts";
import type { FundBlocks } from "./fund-blocks.ts";

interface ValueBlocksOptions {
  readonly ports: Pick<ServicePorts, "clock" | "random" | "log">;
  readonly engine: Pick<Engine, "acceptance" | "values">;
  readonly blocks: FundBlocks;
}

export interface ValueBlocks {
  /**
   * Judges the value, keeps it by that function, which answers whether it is newer than what is known, and lets it count. `publisher` is the foreign program
   * that published it.
   */
  heard(
    nav: NavUpdated,
    publisher: string | undefined,
    keep: (kept: JudgedNav, worst: WorstEnd | undefined) => Promise<boolean>,
  ): Promise<void>;
}

const shownMsMin = 5_000;

export function createValueBlocks({ ports, engine, blocks }: ValueBlocksOptions): ValueBlocks {
  const { clock, random, log } = ports;
  const { acceptance, values } = engine;
  const blockOf = (fundId: string): RiskBlock | undefined =>
    acceptance.ofCause("VALUE_UNEXPLAINED").find(({ fund_id: of }) => of === fundId);

  async function follow(nav: NavUpdated, judged: JudgedValue, publisher: string): Promise<void> {
    const open = blockOf(nav.fund_id);
    if (judged.standing !== "UNEXPLAINED") {
      if (open !== undefined) await blocks.end(open, `The value of ${nav.as_of} is explained.`);
      return;
    }
    if (open?.value !== undefined) {
      const isRecent = millisecondsBetween(parse(open.at), clock.now()) < shownMsMin;
      if (isRecent || values.isAsShown(nav, open.value)) return;
    }
    const shown = line(nav.nav, 64);
    const reason = `${nav.fund_id} is worth ${shown} ${nav.currency} by ${publisher} as of ${nav.as_of}, ${judged.why}.`;
    log.warn("a value is not explained", { fund_id: nav.fund_id, reason });
    const value = values.shown(nav, judged);
    await blocks.open({ block_id: random.uuid(), cause: "VALUE_UNEXPLAINED", fund_id: nav.fund_id, reason, value });
    // The new one stands before the old one ends.
    if (open !== undefined) await blocks.end(open, "A newer value that is not explained has a block of its own.");
  }

  return {
    async heard(nav, publisher, keep) {
      const isOwn = publisher === undefined;
      const judged = values.judge(nav, isOwn);
      // An old value that comes again changes nothing, and neither does what it is judged as.
      if (values.isNewer(nav)) await follow(nav, judged, publisher ?? "treasury");
      const { standing, lost, best } = judged;
      const worst = { value: lost, ...(best !== undefined && { best }) };
      const isKept = await keep(values.kept(nav, judged, isOwn), standing === "VOUCHED" ? undefined : worst);
      if (isKept) values.take(nav, judged, isOwn);
    },
  };
}
