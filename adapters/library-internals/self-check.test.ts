// The start-up check of what is reached behind the libraries' interfaces: it holds with the pinned versions, and names what another build lacks.
import { describe, expect, it } from "vitest";
import { systemTimers } from "../system/timers.ts";
import { internalsOff, internalsOn, reaches } from "./library-internals.ts";
import { openLibraryInternals } from "./self-check.ts";

const timers = systemTimers();

describe("the self-check", () => {
  it("passes with the libraries that are installed", async () => {
    expect(await openLibraryInternals(true, timers)).toBe(internalsOn);
  });

  it("asks for nothing when the switch is off", async () => {
    const broken = { ...internalsOn, hookServer: () => expect.fail("nothing is reached") };
    expect(await openLibraryInternals(false, timers, broken)).toBe(internalsOff);
  });

  it.each([
    ["paths that nobody registered", { hookServer: () => undefined }],
    ["the beginning of a connection", { injector: brokenInjector }],
    ["the stream of a call", { streamOf: () => undefined }],
  ])("refuses to start without %s, and says what to do", async (name, other) => {
    const opening = openLibraryInternals(true, timers, { ...internalsOn, ...other });
    await expect(opening).rejects.toMatchObject({ code: "SERVICE_START_FAILED" });
    await expect(opening).rejects.toThrow(name);
    await expect(opening).rejects.toThrow("PORTCULLIS_LIBRARY_INTERNALS=false");
  });

  it("finds a library that throws where it is reached", async () => {
    const hookServer = (): never => {
      throw new Error("no such function");
    };
    const opening = openLibraryInternals(true, timers, { ...internalsOn, hookServer });
    for (const { name, library } of reaches) {
      if (library === "@grpc/grpc-js") await expect(opening).rejects.toThrow(name);
    }
  });
});

/** Hands the connection over and never says that it began. */
function brokenInjector(...[server]: Parameters<typeof internalsOn.injector>): ReturnType<typeof internalsOn.injector> {
  const inject = internalsOn.injector(server);
  return (socket) => inject(socket, () => undefined);
}
