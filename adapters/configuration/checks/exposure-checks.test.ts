// What the configuration refuses before anything listens beyond this machine, and how it says what to write.
import { describe, expect, it } from "vitest";
import { complaints, paths, valid } from "../../../testkit/configuration/loading.ts";
import { complaintLine } from "../complaint.ts";
import { isBaseUrl, isEveryAddress, isIssuerUrl, isLoopbackHost } from "../value-forms.ts";
import { allowedClearText } from "./clear-text-checks.ts";
import { exposedHost } from "./exposure-checks.ts";

describe("the mode", () => {
  it("is development unless it is said", () => {
    expect(valid(undefined).configuration).toMatchObject({ mode: "development", insecure: false });
    expect(valid(undefined, { PORTCULLIS_MODE: "production" }).configuration.mode).toBe("production");
    expect(valid("mode: production").configuration.mode).toBe("production");
    expect(paths("mode: prod")).toEqual(["mode"]);
  });

  it("must be said where NODE_ENV=production used to say it, with the line to write", () => {
    const [found, ...others] = complaints(undefined, { NODE_ENV: "production" });
    expect(others).toEqual([]);
    expect(found && complaintLine(found)).toMatch(
      /^mode \(environment NODE_ENV\).*`mode: production`.*PORTCULLIS_MODE=production/,
    );
    for (const mode of ["production", "development"]) {
      expect(complaints(undefined, { NODE_ENV: "production", PORTCULLIS_MODE: mode })).toEqual([]);
    }
    expect(complaints("mode: production", { NODE_ENV: "production" })).toEqual([]);
    expect(complaints(undefined, { NODE_ENV: "test" })).toEqual([]);
  });
});

const certificate = { PORTCULLIS_TLS_CERT_FILE: "a.crt", PORTCULLIS_TLS_KEY_FILE: "a.key" };

describe("listening beyond this machine", () => {
  it.each([
    "http: {host: 192.0.2.1}",
    "http: {host: 192.0.2.1, port: 0, public_port: 0}",
    "grpc: {host: '::'}",
    "grpc: {host: portcullis.example}",
    "rpc: {oms: '10.0.0.1:7000'}",
    "rpc: {riskengine: '[2001:db8::1]:0'}",
  ])("needs production and a word about TLS: %s", (text) => {
    expect(paths(text)).toEqual(["mode", "tls.cert_file"]);
    expect(paths(text, { PORTCULLIS_MODE: "production" })).toEqual(["tls.cert_file"]);
    expect(paths(text, { PORTCULLIS_INSECURE: "true" })).toEqual(["mode"]);
    expect(paths(text, { PORTCULLIS_MODE: "production", ...certificate })).toEqual([]);
    expect(paths(text, { PORTCULLIS_MODE: "production", PORTCULLIS_INSECURE: "true" })).toEqual([]);
  });

  it.each([
    "http: {host: localhost}\ngrpc: {host: '::1'}",
    "services: [gateway]\ngrpc: {host: 10.0.0.1}\nrpc: {oms: 'oms.example:7000', insecure: true}",
    "services: [oms]\nhttp: {host: 10.0.0.1}",
    "rpc: {oms: '127.0.0.2:7000', treasury: '[::1]:7001'}",
  ])("is not what this does: %j", (text) => {
    const { configuration } = valid(text);
    expect(exposedHost(configuration)).toBeUndefined();
  });

  it("is known of a configuration in force", () => {
    const said = { PORTCULLIS_MODE: "production", PORTCULLIS_INSECURE: "true" };
    expect(exposedHost(valid("grpc: {host: 10.0.0.1}", said).configuration)).toBe("10.0.0.1");
  });

  it("on every address needs an address to announce", () => {
    const said = { PORTCULLIS_MODE: "production", PORTCULLIS_INSECURE: "true" };
    for (const host of ["0.0.0.0", "::", "0"]) {
      const [found, ...others] = complaints(`http: {host: "${host}"}`, said);
      expect([found?.path, others]).toEqual(["http.base_url", []]);
      expect(found?.expected).toContain("PORTCULLIS_BASE_URL");
    }
    expect(paths("http: {host: 0.0.0.0, base_url: 'https://p.example'}", said)).toEqual([]);
  });
});

describe("a certificate", () => {
  it("is nothing without its key, nor a key without its certificate", () => {
    expect(paths("tls: {cert_file: a.crt}")).toEqual(["tls.key_file"]);
    expect(paths("tls: {key_file: a.key}")).toEqual(["tls.cert_file"]);
    expect(paths("tls: {cert_file: a.crt, key_file: a.key}")).toEqual([]);
  });

  it("and an address in clear text do not go together", () => {
    expect(paths("http: {base_url: 'http://p.example'}", certificate)).toEqual(["http.base_url"]);
    expect(paths("http: {base_url: 'https://p.example'}", certificate)).toEqual([]);
  });
});

describe("services on other machines", () => {
  const away = "services: [gateway]\nrpc: {oms: 'oms.example:7000'}";
  const peers = {
    PORTCULLIS_TLS_PEER_CA_FILE: "ca.crt",
    PORTCULLIS_TLS_PEER_CERT_FILE: "a.crt",
    PORTCULLIS_TLS_PEER_KEY_FILE: "a.key",
  };

  it("are asked with certificates, or in clear text on purpose", () => {
    expect(paths(away)).toEqual(["tls.peer_ca_file"]);
    expect(paths(away, peers)).toEqual([]);
    expect(paths(away, { PORTCULLIS_RPC_INSECURE: "true" })).toEqual([]);
    expect(paths("services: [gateway]\nrpc: {oms: '127.0.0.2:7000'}")).toEqual([]);
  });

  it("need all three files", () => {
    expect(paths("tls: {peer_ca_file: ca.crt, peer_key_file: a.key}")).toEqual(["tls.peer_cert_file"]);
  });

  it("may reach a service with its certificate for them alone, and not the gateway", () => {
    const production = { PORTCULLIS_MODE: "production", ...peers };
    expect(paths("services: [oms]\nrpc: {oms: '10.0.0.1:7000'}", production)).toEqual([]);
    expect(paths("services: [gateway]\nhttp: {host: 10.0.0.1}", production)).toEqual(["tls.cert_file"]);
  });
});

describe("clear text to another machine", () => {
  it.each([
    ["database: {url: 'postgres://u@db.example/d?sslmode=disable'}", "database.url", "PORTCULLIS_DATABASE_INSECURE"],
    ["database: {url: 'postgres://u@10.0.0.7/d?sslmode=require'}", "database.url", "PORTCULLIS_DATABASE_INSECURE"],
    ["bus: {url: 'nats://127.0.0.1:4222,nats://bus.example:4222'}", "bus.url", "PORTCULLIS_BUS_INSECURE"],
    ["telemetry: {otlp_endpoint: 'http://c.example:4318'}", "telemetry.otlp_endpoint", "PORTCULLIS_TELEMETRY_INSECURE"],
    [
      "language_model: {base_url: 'http://m.example/v1'}",
      "language_model.base_url",
      "PORTCULLIS_LANGUAGE_MODEL_INSECURE",
    ],
    ["chat: {base_url: 'http://chat.example'}", "chat.base_url", "PORTCULLIS_CHAT_INSECURE"],
  ])("is refused unless its own word allows it: %s", (text, path, variable) => {
    const [found, ...others] = complaints(text);
    expect([found?.path, others]).toEqual([path, []]);
    expect(found?.expected).toContain(`${variable}=true`);
    const { configuration } = valid(text, { [variable]: "true" });
    expect(allowedClearText(configuration)).toEqual([`${path.split(".")[0]}.insecure`]);
  });

  it.each([
    "database: {url: 'postgres://u@db.example/d'}",
    "database: {url: 'postgres://u@db.example/d?sslmode=verify-full'}",
    "database: {url: 'postgres:///d?host=/run/postgresql&user=u', insecure: true}",
    "database: {url: 'postgres://u@127.0.0.1/d?sslmode=disable'}",
    "bus: {url: 'tls://bus.example:4222'}",
    "bus: {url: 'nats://bus.example:4222', tls_ca_file: ca.crt}",
    "telemetry: {otlp_endpoint: 'http://localhost:4318'}",
  ])("is not what this does: %s", (text) => {
    expect(allowedClearText(valid(text).configuration)).toEqual([]);
  });

  it("between services is known too", () => {
    const text = "services: [gateway]\nrpc: {oms: 'oms.example:7000', insecure: true}";
    expect(allowedClearText(valid(text).configuration)).toEqual(["rpc.insecure"]);
  });
});

it("knows this machine, and every address, however they are written", () => {
  for (const host of ["127.0.0.1", "127.3.2.1", "localhost", "LOCALHOST", "::1", "[::1]"]) {
    expect([host, isLoopbackHost(host), isEveryAddress(host)]).toEqual([host, true, false]);
  }
  for (const host of ["0.0.0.0", "0", "::", "[::]", "0:0:0:0:0:0:0:0", "::ffff:0.0.0.0"]) {
    expect([host, isLoopbackHost(host), isEveryAddress(host)]).toEqual([host, false, true]);
  }
  for (const host of ["127.0.0.1.example", "10.0.0.0", "db8::", "portcullis", "::2"]) {
    expect([host, isLoopbackHost(host), isEveryAddress(host)]).toEqual([host, false, false]);
  }
  for (const url of ["https://0.0.0.0", "http://0.0.0.0:8080", "https://[::]:8443", "https://0/"]) {
    expect([url, isIssuerUrl(url), isBaseUrl(url)]).toEqual([url, false, false]);
  }
});
