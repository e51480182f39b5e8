// Configuration: what is left out has its default, what is out of range is refused with key, value and range.
import { describe, expect, it } from "vitest";
import { defaultsOf, parseConfigValue, rangeOf, readConfig } from "./config.ts";
import { driftMonitor } from "./drift-monitor.ts";
import { watchdogs, watchdogsByName } from "./index.ts";
import { vpin } from "./vpin.ts";

const sentences = (read: ReturnType<typeof readConfig>): string =>
  read.ok ? "" : read.problems.map(({ sentence }) => sentence).join(" ");

describe("the list", () => {
  it("has every watchdog under its own name, with defaults that its own rules accept", () => {
    expect(watchdogs).toHaveLength(10);
    for (const [name, each] of Object.entries(watchdogsByName)) {
      expect(each.name).toBe(name);
      const { config: keys, refuses } = each as { config: typeof vpin.config; refuses?: typeof vpin.refuses };
      expect(readConfig(refuses === undefined ? { config: keys } : { config: keys, refuses }, {}).ok, name).toBe(true);
      expect(Object.keys(keys)).toEqual(
        expect.arrayContaining(["threshold", "every_s", "persistence", "clear_after", "stale_s", "mode"]),
      );
    }
  });

  it("has the specification's figures as defaults", () => {
    const threshold = (name: keyof typeof watchdogsByName) => watchdogsByName[name].config.threshold.default;
    expect(Object.fromEntries(watchdogs.map(({ name }) => [name, threshold(name)]))).toEqual({
      predictive_health: 0.99,
      drift_monitor: -1,
      vpin: 0.4,
      news_spike: 5,
      position_anomaly: 2,
      db_watchdog: 0,
      strategy_watchdog: 0.95,
      theta_watchdog: 0.0005,
      dependency_watchdog: 3,
      portfolio_vol_dd: 1.5,
    });
  });
});

describe("a configuration", () => {
  it("keeps what is given and fills in the rest", () => {
    const read = readConfig(vpin, { threshold: 0.5, mode: "dry_run" });
    expect(read).toEqual({ ok: true, config: { ...defaultsOf(vpin.config), threshold: 0.5, mode: "dry_run" } });
  });

  it("is refused with key, value and range", () => {
    const read = readConfig(vpin, { threshold: 1.2 });
    expect(read).toMatchObject({ ok: false, problems: [{ key: "threshold", value: 1.2, range: "0.05 to 1 share" }] });
    expect(sentences(read)).toBe("threshold is 1.2; it may be 0.05 to 1 share.");
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, "0.5", null, [0.5]]) {
      expect(readConfig(vpin, { threshold: bad }).ok, String(bad)).toBe(false);
    }
    expect(sentences(readConfig(vpin, { window_buckets: 10.5 }))).toContain("a whole number 5 to 1000");
    expect(sentences(readConfig(vpin, { mode: "off" }))).toContain("act | dry_run");
    expect(sentences(readConfig(vpin, { treshold: 0.5 }))).toContain('no key "treshold"');
    for (const bad of [null, 5, "{}", []]) expect(readConfig(vpin, bad).ok).toBe(false);
    expect(readConfig(vpin, { toString: 1 }).ok).toBe(false);
  });

  it("with fewer than five bars a bucket is refused (trap 5)", () => {
    expect(readConfig(vpin, { bar_s: 1, buckets_per_day: 17_280, window_buckets: 10 }).ok).toBe(true);
    expect(sentences(readConfig(vpin, { bar_s: 60, buckets_per_day: 289 }))).toContain(
      "4.98 bars a bucket; at least 5",
    );
    expect(readConfig(vpin, { bar_s: 60, buckets_per_day: 288 }).ok).toBe(true);
  });

  it("whose rungs cross is refused", () => {
    expect(sentences(readConfig(driftMonitor, { halt_at: -1.2 }))).toContain("must not fall in this order");
    expect(sentences(readConfig(driftMonitor, { window: 10 }))).toContain("could never be judged");
    for (const { name, refuses } of watchdogs.filter((each) => "refuses" in each)) expect(refuses, name).toBeDefined();
  });

  it("is read from a command line as numbers where the key takes one", () => {
    expect(parseConfigValue(vpin.config, "bar_s", "1")).toBe(1);
    expect(parseConfigValue(vpin.config, "threshold", "1e-6")).toBe(1e-6);
    expect(parseConfigValue(vpin.config, "threshold", "0x1")).toBe("0x1");
    expect(parseConfigValue(vpin.config, "threshold", "")).toBe("");
    expect(parseConfigValue(vpin.config, "mode", "act")).toBe("act");
    expect(rangeOf(vpin.config.mode)).toBe("act | dry_run");
  });
});
