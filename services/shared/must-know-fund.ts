// An empty list about a fund that there is not would read as "it has none". What a fund has left behind is reported although the fund is gone.
import { Fault } from "../../contracts/src/fault.ts";
import type { ServicePorts } from "./service.ts";

const shownCharactersMax = 130;

/** What is said about a fund that there is not. */
export function noSuchFund(fundId: string): string {
  return `There is no fund ${JSON.stringify(fundId.slice(0, shownCharactersMax))}.`;
}

export async function isKnownFund(
  { referenceData }: Pick<ServicePorts, "referenceData">,
  fundId: string,
): Promise<boolean> {
  const { funds } = await referenceData.read();
  return funds.some(({ fund_id }) => fund_id === fundId);
}

/** Asked when a list is empty. */
export async function mustKnowFund(
  ports: Pick<ServicePorts, "referenceData">,
  fundId: string | undefined,
): Promise<void> {
  if (fundId === undefined || (await isKnownFund(ports, fundId))) return;
  throw new Fault("NOT_FOUND", noSuchFund(fundId), { retry: "never" });
}
