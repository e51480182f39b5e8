// What is wrong with a durable subscription at present, by kind: each is cleared by what ends it.
import type { Aside } from "../../transport/put-aside.ts";
import type { Alarms } from "../alarms.ts";

export interface Complaints {
  trouble?: string;
  held?: string;
  parking?: string;
  horizon?: string;
}

/** The worst first. */
export function worstOf({ trouble, held, parking, horizon }: Complaints, aside: Aside): string | undefined {
  return trouble ?? held ?? aside.complaint() ?? parking ?? horizon;
}

export function holdAt(
  { alarms }: { readonly alarms: Alarms },
  complaints: Complaints,
  name: string,
  sentence: string,
): void {
  complaints.held = sentence;
  alarms.raise("EVENT_HELD", name, sentence);
}

export function goOn({ alarms }: { readonly alarms: Alarms }, complaints: Complaints, name: string): void {
  if (complaints.held === undefined) return;
  delete complaints.held;
  alarms.clear("EVENT_HELD", name);
}
