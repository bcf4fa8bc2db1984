import { describe, expect, it } from "vitest";
import { decodedOnce, hasKeyInAddress } from "../../src/tenancy/principal";

const KEY = `mge_${"0".repeat(26)}_${"A".repeat(43)}`;
const escaped = (text: string) =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join("");

describe("a key is seen in an address", () => {
  it.each([
    { name: "where an id belongs", path: `/api/keys/${KEY}` },
    { name: "where an id belongs, its first letter escaped", path: `/api/keys/%6D${KEY.slice(1)}` },
    { name: "where an id belongs, all of it escaped", path: `/api/keys/${escaped(KEY)}` },
    { name: "behind an escaped slash", path: `/api/sessions/session_x%2F${KEY}` },
    {
      name: "beside an escape that is none",
      path: `/api/%zz/%ff/${escaped("mge_")}${KEY.slice(4)}`,
    },
    { name: "in its query", path: `/api/sessions?q=${KEY}` },
    { name: "in its query, escaped", path: `/api/sessions?q=${escaped(KEY)}` },
    { name: "in its query, by the name of the parameter", path: "/api/sessions?api_key=x" },
  ])("$name", ({ path }) => {
    expect(hasKeyInAddress(new URL(path, "https://massgen.example.com"))).toBe(true);
  });
});

it.each([
  "/api/keys/01kb0000000000000000000000",
  "/api/sessions/session_mge_1?after=3",
  "/api/%E0%A4%A",
  "/api/keys/%256Dge_x",
])("%s has none", (path) => {
  expect(hasKeyInAddress(new URL(path, "https://massgen.example.com"))).toBe(false);
});

it.each([
  { name: "plain text", text: "/api/runs", decoded: "/api/runs" },
  { name: "letters and slashes", text: "/%61pi%2Fruns", decoded: "/api/runs" },
  { name: "letters of several bytes", text: "/schl%C3%BCssel", decoded: "/schlüssel" },
  { name: "what is escaped twice, once", text: "/%256D", decoded: "/%6D" },
  { name: "the rest of what is broken in places", text: "/%zz/%ff/%6D/%", decoded: "/%zz/%ff/m/%" },
])("decodes $name", ({ text, decoded }) => {
  expect(decodedOnce(text)).toBe(decoded);
});
