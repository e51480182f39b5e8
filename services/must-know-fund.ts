// An empty list about a fund that there is not would read as "it has none". What a fund has left behind is told although the fund is gone.
import { Fault } from "../contracts/src/fault.ts";
import type { ServicePorts } from "./service.ts";

const shownCharactersMax = 130;

/** Asked when a list is empty. */
export async function mustKnowFund(
  { referenceData }: Pick<ServicePorts, "referenceData">,
  fundId: string | undefined,
): Promise<void> {
  if (fundId === undefined) return;
  const { funds } = await referenceData.read();
  if (funds.some(({ fund_id }) => fund_id === fundId)) return;
  throw new Fault("NOT_FOUND", `There is no fund ${JSON.stringify(fundId.slice(0, shownCharactersMax))}.`, {
    retry: "never",
  });
}
