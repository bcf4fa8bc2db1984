import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { CONTEXT, detailsOf, teamWith } from "./teams";

const messagesFor = (ownOrigins: string[], backend = "type: claude\nmodel: claude-opus-5-5") =>
  detailsOf(parseTeam(teamWith(backend), { ...CONTEXT, ownOrigins })).join(" ");

/** A backend whose `api_key` is the name of the key. */
const NAMED = "type: claude\nmodel: claude-opus-5-5\napi_key: ${ANTHROPIC_API_KEY}";
const LOCALLY = "ANTHROPIC_API_KEY in .dev.vars";
const DEPLOYED = "`npx wrangler secret put ANTHROPIC_API_KEY`";

describe("a key that is not set", () => {
  it.each([
    { name: "a service on this machine", origins: ["http://127.0.0.1:8787"] },
    {
      name: "a service whose allowed origins include this machine",
      origins: ["http://localhost:*"],
    },
  ])("is set first in .dev.vars, according to the error of $name", ({ origins }) => {
    for (const detail of [messagesFor(origins), messagesFor(origins, NAMED)]) {
      expect(detail).toContain(LOCALLY);
      expect(detail.indexOf(DEPLOYED)).toBeGreaterThan(detail.indexOf(LOCALLY));
    }
  });

  it("is set first as a secret, according to the error of a deployed service", () => {
    const detail = messagesFor(["https://massgen.example.com"]);
    expect(detail).toContain(DEPLOYED);
    expect(detail.indexOf(".dev.vars")).toBeGreaterThan(detail.indexOf(DEPLOYED));
  });

  it("can be replaced by `api_key`, according to the error, unless the config already has `api_key`", () => {
    expect(messagesFor([])).toContain("api_key");
    expect(messagesFor([], NAMED)).not.toContain("api_key");
  });
});
