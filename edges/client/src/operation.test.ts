// Where each argument of a call goes, for operations of every form; and that the package is fit for a browser.
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { camelCase, type OperationPlace, requestShape } from "./operation.ts";

const positions: OperationPlace = {
  method: "GET",
  path: "/v1/funds/{fund_id}/positions",
  pathKeys: ["fund_id"],
  queryKeys: ["symbol", "page_size", "as_of"],
  answer: "json",
};

describe("requestShape", () => {
  it("puts path and query parameters in their places", () => {
    expect(
      requestShape("getPositions", positions, { fundId: "alpha", pageSize: 10, symbol: ["BRK B", "A&B"] }),
    ).toEqual({
      method: "GET",
      path: "/v1/funds/alpha/positions?symbol=BRK+B&symbol=A%26B&page_size=10",
      body: undefined,
    });
    expect(requestShape("getPositions", positions, { fundId: "alpha", asOf: undefined }).path).toBe(
      "/v1/funds/alpha/positions",
    );
  });

  it("keeps a value from becoming another path", () => {
    expect(requestShape("getPositions", positions, { fundId: "../admin?x#y" }).path).toBe(
      "/v1/funds/..%2Fadmin%3Fx%23y/positions",
    );
    expect(() => requestShape("getPositions", positions, { fundId: {} })).toThrow("getPositions needs a value");
  });

  it("sends null as null and nothing for undefined", () => {
    const place: OperationPlace = { ...positions, path: "/x", pathKeys: [], queryKeys: [], bodyKeys: ["a", "b_c"] };
    expect(requestShape("change", place, { a: null, bC: undefined }).body).toBe('{"a":null}');
    expect(() => requestShape("change", place, { b_c: 1, c: 2 })).toThrow('change takes no argument "c"');
  });

  it("sends a name that the path and the body share to both", () => {
    const place: OperationPlace = { ...positions, method: "PUT", queryKeys: [], bodyKeys: ["fund_id", "version"] };
    expect(requestShape("change", place, { fundId: "alpha", version: 2 })).toMatchObject({
      path: "/v1/funds/alpha/positions",
      body: '{"fund_id":"alpha","version":2}',
    });
  });

  it("finds the camelCase of a name, and its way back also where digits follow an underscore", () => {
    expect(["fund_id", "expires_in_s", "totp", "rolling_24h_loss"].map(camelCase)).toEqual([
      "fundId",
      "expiresInS",
      "totp",
      "rolling24hLoss",
    ]);
    const place: OperationPlace = { ...positions, path: "/x", pathKeys: [], bodyKeys: ["rolling_24h_loss"] };
    expect(requestShape("change", place, { rolling24hLoss: 1 }).body).toBe('{"rolling_24h_loss":1}');
    expect(() => requestShape("change", place, { rolling_24hLoss: 1 })).toThrow("takes no argument");
  });
});

it("bundles for a browser out of its own files and the one reader of JSON", async () => {
  const { metafile } = await build({
    entryPoints: [`${import.meta.dirname}/index.ts`],
    absWorkingDir: import.meta.dirname,
    bundle: true,
    write: false,
    metafile: true,
    platform: "browser",
    format: "esm",
  });
  expect(Object.keys(metafile.inputs).sort()).toEqual([
    "../../../contracts/src/bounds/at-once.ts",
    "../../../contracts/src/parse-json.ts",
    "client.ts",
    "connection.ts",
    "errors.ts",
    "events.ts",
    "generated/operations.ts",
    "generated/public-operations.ts",
    "index.ts",
    "link.ts",
    "operation.ts",
    "public-client.ts",
    "reports.ts",
    "retry.ts",
    "server-sent-events.ts",
    "stream.ts",
  ]);
});
