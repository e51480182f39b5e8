// What this terminal can show: colours unless NO_COLOR, and other signs than ASCII only where the locale says UTF-8.
import { type Environment, wantsColour } from "../ctl/terminal.ts";
import type { Look } from "./view/text.ts";

export function lookOf(environment: Environment, asciiOnly: boolean): Look {
  const locale = [environment["LC_ALL"], environment["LC_CTYPE"], environment["LANG"]].find(
    (value) => value !== undefined && value !== "",
  );
  return { ascii: asciiOnly || !/utf-?8/i.test(locale ?? ""), colour: wantsColour(environment, true) };
}
