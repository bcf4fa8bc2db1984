import { describe, expect, it } from "vitest";
import { inputRequired, inputResult } from "../../../src/tools/mcp/input-required";
import type { Question } from "../../../src/tools/mcp/schema";

const asked = (questions: readonly Question[], clean = (text: string) => text) =>
  inputRequired("https://box.example.com/mcp", questions, clean);

describe("elicitations", () => {
  it("D18 a question is shown with its origin, a harmful URL is not", () => {
    const required = asked([
      { method: "elicitation/create", params: { message: "Your API key?\u202e" } },
      {
        method: "elicitation/create",
        params: { mode: "url", url: "javascript:alert(1)", message: "Open this" },
      },
      {
        method: "elicitation/create",
        params: { mode: "url", url: "https://pay.example.com/x", message: "Pay" },
      },
      { method: "sampling/createMessage" },
    ]);
    const said = inputResult(required);
    expect(said).toContain("The tool server at https://box.example.com");
    expect(said).toContain("fill in a form: Your API key?\\u{202e}");
    expect(said).toContain("open an address that is refused: Open this");
    expect(said).toContain("open https://pay.example.com/x: Pay");
    expect(said).not.toContain("javascript:");
    expect(required).toMatchObject({ origin: "https://box.example.com" });
    expect(required.requests.map(({ kind, url, refused }) => [kind, url, refused])).toEqual([
      ["form", null, null],
      ["url", null, "its scheme is javascript, and only https is shown"],
      ["url", "https://pay.example.com/x", null],
      ["other", null, null],
    ]);
  });

  it.each([
    {
      what: "a script",
      url: "javascript:alert(1)",
      why: "its scheme is javascript, and only https is shown",
    },
    {
      what: "a script in disguise",
      url: "\tJava\nScript:alert(1)",
      why: "its scheme is javascript, and only https is shown",
    },
    {
      what: "a data page",
      url: "data:text/html,<script>",
      why: "its scheme is data, and only https is shown",
    },
    {
      what: "an unencrypted page",
      url: "http://pay.example.com/",
      why: "its scheme is http, and only https is shown",
    },
    {
      what: "an unknown scheme",
      url: `${"x".repeat(40)}:y`,
      why: /^its scheme is x{30}… \[10 characters left out\], and only https is shown$/,
    },
    {
      what: "a lookalike name",
      url: "https://bank.example.com@evil.example.com/",
      why: "it names a user before its host",
    },
    {
      what: "with a password",
      url: "https://:secret@evil.example.com/",
      why: "it names a user before its host",
    },
    { what: "without a scheme", url: "//pay.example.com/", why: "it is no address" },
    { what: "nothing", url: "", why: "it is no address" },
    {
      what: "an endless URL",
      url: `https://pay.example.com/${"x".repeat(2_000)}`,
      why: "it is longer than 2000 characters",
    },
  ])("D18 a URL ($what) is not shown, with a reason", ({ url, why }) => {
    const { requests } = asked([
      { method: "elicitation/create", params: { mode: "url", message: "Open it", url } },
    ]);
    const refused = typeof why === "string" ? why : expect.stringMatching(why);
    expect(requests).toEqual([{ kind: "url", message: "Open it", url: null, refused }]);
  });

  it("D18 a name in another script is shown in its ASCII form, and text directions are escaped", () => {
    const url = "https://p\u0430y.example.com/\u202egnp.exe";
    const { requests } = asked([{ method: "elicitation/create", params: { url } }]);
    expect(requests[0]?.url).toBe("https://xn--py-7kc.example.com/%E2%80%AEgnp.exe");
  });

  it("D18 five of many questions are shown, on one line each, without parts of a secret", () => {
    const secret = "planted-0123456789";
    const message = `${"x".repeat(490)}${secret}\nmore`;
    const questions = Array.from({ length: 7 }, () => ({
      method: "elicitation/create",
      params: { message },
    }));
    const { requests, more } = asked(questions, (text) => text.replaceAll(secret, "[secret]"));
    expect([requests.length, more]).toEqual([5, 2]);
    expect(requests[0]?.message).toBe(`${"x".repeat(490)}[secret] m… [3 characters left out]`);
  });
});
