import { describe, expect, it } from "vitest";
import { createApp } from "../../src/api/app";
import type { Services } from "../../src/api/services";
import { OPEN_SERVICE } from "../builders/open-service";
import { OPEN_TENANCY } from "./tenancy-fakes";

const app = createApp();

type State = {
  hasMasterKey: boolean;
  hasKeys: boolean;
  openOnLoopback?: boolean;
  badLimit?: string;
};

async function responseOf(path: string, state: State, method = "GET") {
  const { hasMasterKey, hasKeys, openOnLoopback = false, badLimit = null } = state;
  const keys = { ...OPEN_TENANCY.keys, isEmpty: async () => !hasKeys };
  const services: Services = {
    ...OPEN_SERVICE,
    openOnLoopback,
    tenancy: { ...OPEN_TENANCY, keys, hasMasterKey, badLimit },
  };
  const response = await app.fetch(
    new Request(`https://massgen.example.com${path}`, { method }),
    services,
  );
  return { status: response.status, text: await response.text() };
}

const WITHOUT_SETUP = { hasMasterKey: false, hasKeys: false };
const WITHOUT_KEYS = { hasMasterKey: true, hasKeys: false };
const SET_UP = { hasMasterKey: true, hasKeys: true };

const PATHS = [
  "/",
  "/docs",
  "/openapi.json",
  "/nowhere",
  "/api",
  "/api/runs",
  "/api/sessions",
  "/api/nowhere",
];

describe("a deployment", () => {
  it("returns its code version and its deployment id at /healthz", async () => {
    const services = { ...OPEN_SERVICE, version: { version: "1.2.3", deployment: "d1" } };
    const response = await app.fetch(new Request("https://massgen.example.com/healthz"), services);
    expect(await response.json()).toEqual({ status: "ok", version: "1.2.3", deployment: "d1" });
  });

  it.each([WITHOUT_SETUP, WITHOUT_KEYS, SET_UP])(
    "responds at /healthz in the state %j",
    async (state) => {
      expect((await responseOf("/healthz", state)).status).toBe(200);
    },
  );

  it.each(PATHS)(
    "without its master key refuses %s and names the command that sets it",
    async (path) => {
      const { status, text } = await responseOf(path, { hasMasterKey: false, hasKeys: true });
      expect([status, text]).toEqual([
        401,
        expect.stringContaining("wrangler secret put MASTER_KEY"),
      ]);
    },
  );

  it.each(PATHS)(
    "without keys refuses %s and names the command that creates the first key",
    async (path) => {
      const { status, text } = await responseOf(path, WITHOUT_KEYS);
      expect([status, text]).toEqual([401, expect.stringContaining("npm run keys -- create")]);
      expect(JSON.parse(text)).toMatchObject({ code: "access_closed" });
    },
  );

  it.each(PATHS)(
    "with an invalid limit refuses %s, also on a local machine, and names the variable",
    async (path) => {
      for (const openOnLoopback of [false, true]) {
        const answer = await responseOf(path, {
          ...SET_UP,
          openOnLoopback,
          badLimit: "TENANT_CONCURRENT_TURNS",
        });
        expect([answer.status, answer.text]).toEqual([
          401,
          expect.stringContaining("TENANT_CONCURRENT_TURNS is not a valid limit"),
        ]);
        expect(JSON.parse(answer.text)).toMatchObject({
          code: "access_closed",
          detail: expect.stringContaining("a number"),
        });
      }
    },
  );

  it.each(["/docs", "/openapi.json"])("without keys refuses every method for %s", async (path) => {
    for (const method of ["HEAD", "POST", "DELETE"])
      expect((await responseOf(path, WITHOUT_KEYS, method)).status).toBe(401);
  });

  it.each([
    { path: "/docs", status: 200 },
    { path: "/openapi.json", status: 200 },
    { path: "/nowhere", status: 404 },
    { path: "/api/sessions", status: 401 },
  ])(
    "that is set up responds with $status to a request for $path without a key",
    async ({ path, status }) => {
      const answer = await responseOf(path, SET_UP);
      expect(answer.status).toBe(status);
    },
  );
});

it("a development service shows its documentation without any key", async () => {
  expect((await responseOf("/docs", { ...WITHOUT_SETUP, openOnLoopback: true })).status).toBe(200);
});
