import { describe, expect, it } from "vitest";
import { decodedOnce, hasKeyInAddress } from "../../src/tenancy/principal";

const KEY = `mge_${"0".repeat(26)}_${"A".repeat(43)}`;
const escapeAll = (text: string) =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join("");

describe("a key is detected in a URL", () => {
  it.each([
    { name: "in place of an id", path: `/api/keys/${KEY}` },
    {
      name: "in place of an id, with its first letter escaped",
      path: `/api/keys/%6D${KEY.slice(1)}`,
    },
    { name: "in place of an id, fully escaped", path: `/api/keys/${escapeAll(KEY)}` },
    { name: "after an escaped slash", path: `/api/sessions/session_x%2F${KEY}` },
    {
      name: "after an invalid escape",
      path: `/api/%zz/%ff/${escapeAll("mge_")}${KEY.slice(4)}`,
    },
    { name: "in the query", path: `/api/sessions?q=${KEY}` },
    { name: "in the query, fully escaped", path: `/api/sessions?q=${escapeAll(KEY)}` },
    { name: "in the query, because of the parameter's name", path: "/api/sessions?api_key=x" },
  ])("$name", ({ path }) => {
    expect(hasKeyInAddress(new URL(path, "https://massgen.example.com"))).toBe(true);
  });
});

it.each([
  "/api/keys/01kb0000000000000000000000",
  "/api/sessions/session_mge_1?after=3",
  "/api/%E0%A4%A",
  "/api/keys/%256Dge_x",
])("no key is detected in %s", (path) => {
  expect(hasKeyInAddress(new URL(path, "https://massgen.example.com"))).toBe(false);
});

it.each([
  { name: "a path without escapes", text: "/api/runs", decoded: "/api/runs" },
  { name: "escaped letters and slashes", text: "/%61pi%2Fruns", decoded: "/api/runs" },
  { name: "an escaped letter of several bytes", text: "/schl%C3%BCssel", decoded: "/schlüssel" },
  { name: "a double escape only once", text: "/%256D", decoded: "/%6D" },
  { name: "only the valid escapes of a path", text: "/%zz/%ff/%6D/%", decoded: "/%zz/%ff/m/%" },
])("decodes $name", ({ text, decoded }) => {
  expect(decodedOnce(text)).toBe(decoded);
});
