// Every dangerous action of the frame and of /risk as a question. The words are those of ctl and of the terminal desk, and so is what carries them out.

import type { Instant } from "../../../contracts/src/instant.ts";
import { act, type Request } from "../../words/act.ts";
import { type Field, haltGroups, requestGroup } from "../../words/fields.ts";
import { byStrictness, scopeIdOf, scopeOf } from "../../words/halt-words.ts";
import { shell } from "../../words/shell.ts";
import type { Lists } from "../data/lists.ts";
import type { Halt } from "../model/halted.ts";
import type { DangerAsk, Typed } from "./ask.ts";
import { audited } from "./audited.ts";

type HaltStatus = Lists["halts"];

function acted(request: Omit<Request, "reason" | "confirmation" | "code">): DangerAsk["run"] {
  return ({ reason, word, code }: Typed, acting) =>
    act({ ...request, reason, confirmation: word, code }, { ...acting, howToSign });
}

const howToSign = "Every other operator sees the request on every desk now, and signs it there";

/** The firm when no scope is named. */
export function haltAsk(scopeId = ""): DangerAsk {
  const label = scopeId === "" ? "THE WHOLE FIRM" : scopeId;
  return {
    title: "Halt",
    scope: label,
    scopeId,
    facts: ["No new risk, and its open orders are cancelled. Positions stay.", "Only people can lift it again."],
    word: "HALT",
    reason: "optional",
    code: "none",
    command: shell`ctl cmd halt ${scopeId === "" ? [] : scopeId}`,
    run: acted({ act: "halt", target: { label, id: scopeId } }),
  };
}

const idsOf = (halts: readonly Halt[]): readonly string[] =>
  halts.flatMap(({ halt_id }) => (halt_id === undefined ? [] : [halt_id]));

/** Everything: one person asks, another signs. */
export function resumeAllAsk(status: HaltStatus, now: Instant): DangerAsk {
  const { halts, restarts } = status;
  return {
    title: "Resume: ask for every halt to be lifted",
    scope: `${halts.length === 1 ? "THE ONLY HALT" : `ALL ${halts.length} HALTS`}: ${halts.map(scopeOf).join(", ")}`,
    scopeId: "",
    facts: [
      "Nothing is lifted yet: another operator must sign.",
      restarts.length === 0
        ? "Nothing may trade again afterwards: another halt still covers it."
        : `May trade again afterwards: ${restarts.join(", ")}.`,
      "Losses go on being counted from the baseline that they had.",
    ],
    about: haltGroups(byStrictness(halts), now),
    word: "RESUME",
    reason: "required",
    code: "required",
    command: "ctl cmd resume --confirm RESUME --reason TEXT --totp CODE",
    run: acted({ act: "resume", target: { label: "everything", id: "", haltIds: idsOf(halts), needsCode: true } }),
  };
}

/** One scope's own halts, none above it. */
export function resumeScopeAsk(halt: Halt, status: HaltStatus, now: Instant): DangerAsk {
  const id = scopeIdOf(halt);
  const own = status.halts.filter((one) => scopeIdOf(one) === id);
  return {
    title: "Resume",
    scope: scopeOf(halt),
    scopeId: id,
    facts: [`This lifts the halts of ${id} itself, none above it.`],
    about: haltGroups(own, now),
    word: "RESUME",
    reason: "required",
    code: "none",
    command: shell`ctl cmd resume ${id} --confirm RESUME --reason TEXT`,
    run: acted({ act: "resume", target: { label: id, id, haltIds: idsOf(own) } }),
  };
}

export function cosignAsk(status: HaltStatus, now: Instant): DangerAsk {
  const requestId = status.request_id ?? "";
  const { halts } = status;
  return {
    title: "Co-sign the request to resume everything",
    scope: `request ${requestId}`,
    scopeId: "",
    facts: [`With your signature ${halts.length === 1 ? "the only halt is" : `all ${halts.length} halts are`} lifted.`],
    about: [requestGroup(status, now), ...haltGroups(byStrictness(halts), now)],
    word: "RESUME",
    reason: "none",
    code: "required",
    command: shell`ctl cmd resume --cosign ${requestId} --confirm RESUME --totp CODE`,
    run: acted({ act: "cosign", target: { label: "everything", id: "", needsCode: true }, requestId }),
  };
}

export function cancelAllAsk(fund = ""): DangerAsk {
  return {
    title: "Cancel every open order",
    scope: fund === "" ? "EVERY FUND" : `fund ${fund}`,
    scopeId: fund,
    facts: ["Positions stay; what has filled stays filled."],
    word: "CANCEL",
    reason: "required",
    code: "none",
    command: shell`ctl cmd cancel-all ${fund === "" ? [] : fund} --confirm CANCEL --reason TEXT`,
    run: acted({ act: "cancel", target: { label: fund === "" ? "every fund" : fund, id: fund } }),
  };
}

export function reconcileAsk(fund: string | undefined): DangerAsk {
  return {
    title: "Reconcile now",
    scope: fund === undefined ? "every account" : `fund ${fund}`,
    scopeId: fund ?? "",
    facts: [
      "Our positions are compared with the broker's now. Nothing is traded; a difference that stays blocks its symbol.",
    ],
    reason: "none",
    code: "none",
    command: shell`ctl riskengine reconcile ${fund === undefined ? [] : ["--fund-id", fund]}`,
    run: audited({
      action: "operator.attempted",
      run: async (_typed, client) => {
        const answer = await client.reconcile(fund === undefined ? {} : { fundId: fund });
        return [
          `COMPARED ${answer.symbols} symbols of ${answer.compared.join(", ") || "nobody"}.`,
          ...(answer.unanswered.length === 0 ? [] : [`NO ANSWER from ${answer.unanswered.join(", ")}.`]),
          `${answer.differences.length} differences are open.`,
          ...answer.differences.map(
            (one) =>
              `${one.status} ${one.fund_id} ${one.symbol}: ours ${one.our_quantity}, broker's ${one.broker_quantity}`,
          ),
        ];
      },
    }),
  };
}

export function endStopAsk(stop: Lists["stops"][number]): DangerAsk {
  const { stop_id: stopId = "", fund_id, symbol, quantity } = stop;
  return {
    title: "End a stop",
    scope: `${symbol} of ${fund_id}, ${quantity}`,
    scopeId: fund_id,
    facts: ["The exit that it owes is given up: the position stays, and nobody sells it."],
    reason: "required",
    code: "none",
    command: shell`ctl riskengine stops end ${stopId} --reason TEXT`,
    run: audited({
      action: "stop.ended",
      run: async ({ reason }, client) => {
        const ended = await client.endStop({ stopId, reason });
        return [
          `${ended.state} ${ended.symbol} of ${ended.fund_id}${ended.outcome === undefined ? "" : `: ${ended.outcome}`}`,
        ];
      },
    }),
  };
}

export function releaseThrottleAsk(strategyId: string): DangerAsk {
  return {
    title: "Release a throttle",
    scope: `strategy ${strategyId}`,
    scopeId: strategyId,
    facts: ["Equal orders may be approved again; the count begins anew."],
    reason: "required",
    code: "none",
    command: shell`ctl riskengine throttle release ${strategyId} --reason TEXT`,
    run: audited({
      action: "throttle.released",
      run: async ({ reason }, client) => {
        const status = await client.releaseThrottle({ strategyId, reason });
        return [`${status.tripped ? "STILL TRIPPED" : "RELEASED"} ${status.strategy_id} of ${status.fund_id}`];
      },
    }),
  };
}

/** What was booked is vouched for, and only that: what came since has a block of its own. */
export function acceptBlockAsk(
  blockId: string,
  scope: string,
  fields: readonly Field[],
  missing?: readonly string[],
): DangerAsk {
  const gaps = missing === undefined ? {} : { gaps: [{ block_id: blockId, missing: [...missing] }] };
  const shown = missing === undefined ? [] : [{ label: "Never come", value: missing.join(", ") }];
  return {
    title: "Accept what blocks new risk",
    scope,
    scopeId: blockId,
    facts: ["New risk passes again where nothing else blocks it. The trade stays booked either way."],
    about: [{ title: "WHAT BLOCKS", fields: [...fields, ...shown] }],
    reason: "required",
    code: "maybe",
    command: shell`ctl riskengine blocks accept ${blockId} --reason TEXT`,
    run: audited({
      action: "block.ended",
      run: async ({ reason, code }, client) => {
        const parameters = { block_ids: [blockId], reason, ...gaps };
        const proved =
          code === ""
            ? {}
            : { stepUpProof: (await client.stepUp({ action: "AcceptBlock", parameters, totp: code })).proof };
        const accepted = await client.acceptBlock({ blockId, reason, ...gaps, ...proved });
        return [`ACCEPTED ${accepted.about}`];
      },
    }),
  };
}
