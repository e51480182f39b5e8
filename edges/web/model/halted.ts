// What a halt covers, and in which mode the funds trade: the two facts that no desk may be without.
import type { Lists } from "../data/lists.ts";

export type Halt = Lists["halts"]["halts"][number];
export type Fund = Lists["funds"][number];

/** Whether what a desk shows lies within a halt: any halt when it shows every fund, else those of the firm, the fund and its strategies. */
export function isHalted(
  status: Pick<Lists["halts"], "halts" | "known"> | undefined,
  fund: string | undefined,
): boolean {
  if (status === undefined) return false;
  if (!status.known) return true;
  return status.halts.some(
    ({ severity, fund_id }) => severity === "FIRM_HALT" || fund === undefined || fund_id === fund,
  );
}

export type ModeWord = "PAPER" | "LIVE" | "PAPER and LIVE" | "no funds" | "mode not known";

export function modeOf(funds: readonly Fund[] | undefined, fund: string | undefined): ModeWord {
  const shown = (funds ?? []).filter(({ fund_id }) => fund === undefined || fund_id === fund);
  const modes = new Set(shown.map(({ mode }) => mode));
  if (funds?.length === 0) return "no funds";
  if (modes.size === 0) return "mode not known";
  if (modes.size === 2) return "PAPER and LIVE";
  return modes.has("LIVE") ? "LIVE" : "PAPER";
}
