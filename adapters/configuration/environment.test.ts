// An unknown variable is reported once by its name, with the names that may have been meant.
import { describe, expect, it } from "vitest";
import { complaints } from "../../testkit/configuration/loading.ts";
import { complaintLine } from "./complaint.ts";

describe("an unknown variable", () => {
  it.each<[name: string, suggestion: string | undefined]>([
    ["PORTCULLIS_GRCP_PORT", "PORTCULLIS_GRPC_PORT"],
    ["PORTCULLIS_PORT", "PORTCULLIS_HTTP_PORT, PORTCULLIS_GRPC_PORT or PORTCULLIS_PUBLIC_PORT"],
    ["PORTCULLIS_HOST", "PORTCULLIS_HTTP_HOST or PORTCULLIS_GRPC_HOST"],
    ["PORTCULLIS_NATS_URL", "PORTCULLIS_BASE_URL, PORTCULLIS_BUS_URL or PORTCULLIS_CHAT_URL"],
    ["PORTCULLIS_COLOUR", undefined],
    ["PORTCULIS_HTTP_PORT", "PORTCULLIS_HTTP_PORT"],
    ["PROTCULLIS_HTTP_PORT", "PORTCULLIS_HTTP_PORT"],
    ["PORT_CULLIS_HTTP_PORT", "PORTCULLIS_HTTP_PORT"],
    ["PORTCULIS_HTP_PORT", "PORTCULLIS_HTTP_PORT"],
    ["PORTCULIS_URL", "PORTCULLIS_URL"],
    ["portculis_data_dir", "PORTCULLIS_DATA_DIR"],
    ["PORTCULIS_COLOUR", undefined],
  ])("%s leads to %s", (name, suggestion) => {
    const found = complaints(undefined, { [name]: "Pl4nted" });
    expect(found.map((complaint) => complaint.suggestion)).toEqual([suggestion]);
    const line = found.map(complaintLine).join("\n");
    expect(line.split(name)).toHaveLength(2);
    expect(line).not.toContain("Pl4nted");
    if (suggestion === undefined) expect(line).toContain("docs/configuration.md");
  });

  it.each([
    "PORT",
    "PORT_HTTP",
    "PORTAL_URL",
    "PORTFOLIO_PORT",
    "PARTICULARS_X",
    "PORTCULLIS_TEST_SEED",
    "PORTCULIS_TEST_SEED",
  ])("is not %s, which is no business of ours", (name) => {
    expect(complaints(undefined, { [name]: "1" })).toEqual([]);
  });
});
