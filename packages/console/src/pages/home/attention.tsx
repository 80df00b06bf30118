export function Attention() {
  return null;
}
