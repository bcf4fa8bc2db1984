import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../src/api/app";
import type { Services, SessionStub } from "../../src/api/services";
import { OPEN_TENANCY } from "./tenancy-fakes";
import { BEGINS_AGAIN } from "../../src/providers/platform-words";
import { noContexts } from "../builders/no-contexts";
import { noEvals } from "../builders/no-evals";
import { noSessions } from "../builders/no-sessions";
import { noSecrets } from "../builders/no-secrets";

/** The response of the API if the session's Durable Object throws this error. */
function responseTo(thrown: Error): Promise<Response> {
  const fail = () => Promise.reject(thrown);
  const stub: SessionStub = {
    prepare: fail,
    create: fail,
    startTurn: fail,
    readQueue: fail,
    queued: fail,
    removeQueued: fail,
    resumeQueue: fail,
    turns: fail,
    compact: fail,
    moveHead: fail,
    cancel: fail,
    erase: fail,
    status: fail,
    turn: fail,
    answer: fail,
    files: fail,
    blob: fail,
    changes: fail,
    changedContents: fail,
    diffPoint: fail,
    contextPoint: fail,
    blobs: fail,
    events: fail,
    issueTicket: fail,
    redeemTicket: fail,
    fetch: fail,
  };
  const services: Services = {
    session: () => stub,
    tenancy: OPEN_TENANCY,
    secrets: noSecrets,
    config: { storedKeys: [], allowedOrigins: [], variables: {} },
    evals: noEvals,
    contexts: noContexts,
    stored: { ...noSessions, index: { ...noSessions.index, has: async () => true } },
    teams: {},
    version: { version: "0.0.0", deployment: null },
    openOnLoopback: true,
  };
  return Promise.resolve(
    createApp().fetch(new Request("http://127.0.0.1/api/sessions/session_unknown00"), services),
  );
}

describe("a Durable Object that throws", () => {
  beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => undefined));
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    "Durable Object reset because its code was updated.",
    "Network connection lost.",
    "Cannot resolve Durable Object due to transient issue on remote node.",
    "Durable Object is overloaded. Requests queued for too long.",
    "Cannot access storage because object has moved to a different machine",
    "internal error; reference = abc123",
    BEGINS_AGAIN,
  ])("this error of the platform leads to 503 with a time to retry: %s", async (message) => {
    const response = await responseTo(new Error(message));
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    const problem = await response.text();
    expect(JSON.parse(problem)).toMatchObject({ status: 503, code: "interrupted" });
    expect(problem).not.toContain(message);
  });

  it.each(["retryable", "overloaded"])(
    "an error with the platform's property `%s` leads to 503 too",
    async (property) => {
      const response = await responseTo(
        Object.assign(new Error("an unknown message"), { [property]: true }),
      );
      expect(response.status).toBe(503);
    },
  );

  it.each([
    new Error("no agent at index 3"),
    Object.assign(new Error("strange"), { retryable: false, remote: true }),
  ])("another error leads to an internal error without its message: %s", async (thrown) => {
    const response = await responseTo(thrown);
    expect([response.status, response.headers.get("retry-after")]).toEqual([500, null]);
    const problem = await response.text();
    expect(JSON.parse(problem)).toMatchObject({ code: "internal" });
    expect(problem).not.toContain(thrown.message);
  });
});
