// What waits together when an event that carries money is held: those of one fund. Asked also of what matches no schema, so it believes nothing.
const lengthMax = 200;
const begin = "fund ";

export function fundLane(payload: unknown): string | undefined {
  if (typeof payload !== "object" || payload === null || !("fund_id" in payload)) return undefined;
  const { fund_id: fundId } = payload;
  return typeof fundId === "string" && fundId !== "" && fundId.length <= lengthMax ? `${begin}${fundId}` : undefined;
}

/** The fund whose lane it is; undefined for that of one event. */
export const fundOfLane = (lane: string): string | undefined =>
  lane.startsWith(begin) ? lane.slice(begin.length) : undefined;
