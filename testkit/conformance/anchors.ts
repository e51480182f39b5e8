// The suite that every anchor passes: each check is a promise of ports/anchors.ts.
import { describe, expect, it } from "vitest";
import type { Anchor, AnchoredCheckpoint } from "../../ports/anchors.ts";

/** A place where nothing is kept yet. */
export interface AnchorFixture {
  /** One more opening of the same place, as another process would have it. */
  open(): Anchor;
  close(): Promise<void>;
}

const of = (size: number, more: Partial<AnchoredCheckpoint> = {}): AnchoredCheckpoint => ({
  origin: "log/a",
  size,
  note: `log/a\n${size}\nroot \u2014 é\n\n\u2014 log/a c2ln\n`,
  ...more,
});

export function anchorSuite(name: string, openFixture: () => Promise<AnchorFixture>): void {
  const check = (sentence: string, run: (fixture: AnchorFixture) => Promise<void>): void =>
    it(sentence, async () => {
      const fixture = await openFixture();
      try {
        await run(fixture);
      } finally {
        await fixture.close();
      }
    });

  describe(`the anchor ${name}`, () => {
    check("gives the largest that is kept, byte for byte, also to whoever opens it anew", async (fixture) => {
      const anchor = fixture.open();
      expect(await anchor.newest("log/a")).toBeUndefined();
      await anchor.keep(of(3));
      await anchor.keep(of(7));
      expect(await anchor.newest("log/a")).toEqual(of(7));
      await anchor.keep(of(5));
      expect(await anchor.newest("log/a")).toEqual(of(7));
      expect(await fixture.open().newest("log/a")).toEqual(of(7));
    });

    check("keeps logs apart", async (fixture) => {
      const anchor = fixture.open();
      await anchor.keep(of(7));
      await anchor.keep(of(2, { origin: "log/b" }));
      expect(await anchor.newest("log/b")).toEqual(of(2, { origin: "log/b" }));
      expect(await anchor.newest("log/c")).toBeUndefined();
    });

    check("takes the same one again, and refuses another of the newest size", async (fixture) => {
      const anchor = fixture.open();
      await anchor.keep(of(7));
      await anchor.keep(of(7));
      await fixture.open().keep(of(7));
      const another = of(7, { note: "another\n" });
      await expect(anchor.keep(another)).rejects.toMatchObject({ code: "STORE_CONFLICT", retry: "never" });
      await expect(fixture.open().keep(another)).rejects.toMatchObject({ code: "STORE_CONFLICT" });
      expect(await anchor.newest("log/a")).toEqual(of(7));
    });

    check("sees what another process has kept", async (fixture) => {
      const [one, other] = [fixture.open(), fixture.open()];
      await one.keep(of(3));
      expect(await other.newest("log/a")).toEqual(of(3));
      await other.keep(of(9));
      expect(await one.newest("log/a")).toEqual(of(9));
    });
  });
}
