// The memory's one-time codes pass the suite of their port.
import { it } from "vitest";
import { oneTimeCodesChecks } from "../conformance/one-time-codes.ts";
import { person } from "../identity/operators.ts";
import { openMemoryPlatform } from "../virtual/memory-platform.ts";
import { memoryCode } from "./one-time-codes.ts";

it.each(oneTimeCodesChecks)("$sentence", async ({ run }) => {
  const platform = openMemoryPlatform({ seed: 1 });
  const { oneTimeCodes, clock } = platform.processOf("operations");
  await run({
    codes: { prove: (...given) => platform.finish(oneTimeCodes.prove(...given)) },
    duty: { ...person("duty"), subject: "duty" },
    nobody: person("nobody"),
    codeNow: () => memoryCode("duty", clock.now()),
    wrongCode: () => "none",
    pass: (ms) => platform.pass(ms),
    reported: async () =>
      platform.tables.log.map(({ subject }) => subject).filter((subject) => subject.includes(".stepup.")),
  });
  await platform.close();
});
