import { describe, expect, it } from "vitest";
import type { Team } from "../../../../src/config/team";
import { TeamKeys } from "../../../../durable-objects/session/calls/team-keys";
import { entryOf } from "../../../builders/sealing-keys";
import { CONTEXT, teamOf } from "../../../config/teams";

const SECRET = "caller-key-0123456789";
const HOLDER = { tenant: "acme", session: "session_one" };
const OLD = entryOf(1);
const BOTH = `${entryOf(2)},${entryOf(1)}`;
const NEW = entryOf(2);

const SOURCE = `agents:
  - id: own
    backend: {type: chatcompletion, model: m, base_url: "https://api.example.org/v1", api_key: ${SECRET}}
  - id: stored
    backend: {type: openai, model: gpt-6.1-terra}
`;
const team = teamOf(SOURCE, CONTEXT);
const keysWith = (SEALING_KEYS: string, more: object = {}, holder = HOLDER) =>
  new TeamKeys({ SEALING_KEYS, ...more }, holder);
const agentOf = ({ agents: [own] }: Team) => own ?? expect.fail("no agent");
const keyOf = (keys: TeamKeys, storedTeam: Team) => keys.keyOf(agentOf(storedTeam));
const sealedTeam = keysWith(OLD).seal(team);

describe("a stored team", () => {
  it("has the caller's key in sealed form, and nothing else is changed", () => {
    expect(JSON.stringify(sealedTeam)).not.toContain(SECRET);
    expect(agentOf(sealedTeam).backend.key).toEqual({
      from: "sealed",
      value: expect.stringMatching(/^1:/),
    });
    expect(sealedTeam.agents[1]).toEqual(team.agents[1]);
    expect(keysWith(OLD).open(sealedTeam)).toEqual({ ok: true, team });
  });

  it.each([
    { name: "missing", keys: "" },
    { name: "malformed", keys: "1:short" },
  ])("is not stored if SEALING_KEYS is $name", ({ keys }) => {
    expect(() => keysWith(keys).seal(team)).toThrow("SEALING_KEYS is missing or malformed");
  });

  it("needs no sealing without a caller's key", () => {
    const withoutCallerKey = { ...team, agents: team.agents.slice(1) };
    expect(keysWith("").seal(withoutCallerKey)).toEqual(withoutCallerKey);
  });

  it("is sealed again with a newer version, and then the older version can be removed", () => {
    const renewed = keysWith(BOTH).renew(sealedTeam) ?? expect.fail("nothing changed");
    expect(agentOf(renewed).backend.key).toEqual({
      from: "sealed",
      value: expect.stringMatching(/^2:/),
    });
    expect(keyOf(keysWith(NEW), renewed)).toEqual({ ok: true, key: SECRET });
    expect(keysWith(BOTH).renew(renewed)).toBeNull();
  });

  it("can be opened if an older release stored its key as plain text, and the key is then sealed", () => {
    expect(keyOf(keysWith(""), team)).toEqual({ ok: true, key: SECRET });
    expect(keysWith("").renew(team)).toBeNull();
    const renewed = keysWith(OLD).renew(team) ?? expect.fail("nothing changed");
    expect(JSON.stringify(renewed)).not.toContain(SECRET);
    expect(keyOf(keysWith(OLD), renewed)).toEqual({ ok: true, key: SECRET });
  });
});

describe("a call whose caller's key cannot be opened fails before it is sent, with a reason", () => {
  const movedTeam = {
    ...sealedTeam,
    agents: [
      {
        ...agentOf(sealedTeam),
        backend: { ...agentOf(sealedTeam).backend, baseUrl: "https://evil.example" },
      },
    ],
  };
  it.each([
    {
      name: "because its version was removed",
      keys: keysWith(NEW),
      kept: sealedTeam,
      says: "version 1 of SEALING_KEYS, which is no longer set",
    },
    {
      name: "because all versions were removed",
      keys: keysWith(""),
      kept: sealedTeam,
      says: "version 1 of SEALING_KEYS, which is no longer set",
    },
    {
      name: "because its version has another key",
      keys: keysWith(NEW.replace("2:", "1:")),
      kept: sealedTeam,
      says: "is not the key it was sealed with",
    },
    {
      name: "because it was sealed for another origin",
      keys: keysWith(OLD),
      kept: movedTeam,
      says: "the stored key was changed",
    },
    {
      name: "because it was sealed for another tenant",
      keys: keysWith(OLD, {}, { ...HOLDER, tenant: "other" }),
      kept: sealedTeam,
      says: "the stored key was changed",
    },
    {
      name: "because it was sealed for another session",
      keys: keysWith(OLD, {}, { ...HOLDER, session: "session_two" }),
      kept: sealedTeam,
      says: "the stored key was changed",
    },
  ])("$name", ({ keys, kept, says }) => {
    const failure = {
      class: "bad_credentials",
      code: "key_unreadable",
      message: expect.stringContaining(says),
      reached: false,
    };
    expect(keyOf(keys, kept)).toEqual({ ok: false, failure: expect.objectContaining(failure) });
    expect(keys.open(kept)).toMatchObject({ ok: false, failure });
    expect(keys.renew(kept)).toBeNull();
  });
});

describe("an operator's key", () => {
  const stored = team.agents[1] ?? expect.fail("no agent");

  it.each([
    { name: "open access", env: { OPEN_ACCESS: "loopback" } },
    { name: "a loopback origin", env: { SERVICE_ORIGINS: "http://127.0.0.1:8787" } },
  ])(
    "that is missing is to be added to .dev.vars if the service is local because of $name",
    ({ env }) => {
      const found = keysWith(OLD, env).keyOf(stored);
      expect(found.ok ? "" : found.failure.message).toContain("add it to .dev.vars");
    },
  );

  it("is sent to the origin that it is bound to", () => {
    expect(keysWith(OLD, { OPENAI_API_KEY: "sk-ours" }).keyOf(stored)).toEqual({
      ok: true,
      key: "sk-ours",
    });
  });

  it.each([
    { name: "is missing", agent: stored, env: {} },
    {
      name: "would be sent to another origin",
      agent: { ...stored, backend: { ...stored.backend, baseUrl: "https://evil.example" } },
      env: { OPENAI_API_KEY: "sk-ours" },
    },
  ])("that $name fails the call before it is sent", ({ agent, env }) => {
    expect(keysWith(OLD, env).keyOf(agent)).toMatchObject({
      ok: false,
      failure: { code: "key_missing", reached: false },
    });
  });
});
