// The options that verbs about watchdogs share.
import { watchdogNames } from "../../contracts/src/watchdog-names.ts";
import type { VerbOption } from "./verbs/verb.ts";

export const watchdogOption: VerbOption = {
  name: "watchdog",
  value: "NAME",
  required: true,
  values: [...watchdogNames],
  closed: true,
  sentence: "The watchdog.",
};

export const watchedFundOption: VerbOption = {
  name: "fund-id",
  value: "FUND",
  sentence: "Only this fund; `firm` for the firm's own. All when absent.",
};

export function fundOf(context: { option(name: string): string | undefined }): { readonly fundId?: string } {
  const fundId = context.option("fund-id");
  return fundId === undefined ? {} : { fundId };
}
