/** Files that the bundler brings in as text. */
declare module "*.yaml" {
  const text: string;
  export default text;
}
