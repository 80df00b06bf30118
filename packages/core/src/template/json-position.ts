/**
 * Whether a place in a JSON template lies inside a string. Derived from the fixed text alone, as long as the branches of a block
 * agree. Where they do not, the place counts as inside, and values are escaped.
 */
export type Position = 'inside' | 'outside' | 'unknown';

export function afterContent(position: Position, content: string): Position {
  if (position === 'unknown') return position;
  let inside = position === 'inside';
  for (let i = 0; i < content.length; i++) {
    const char = content[i];
    if (char === '"') inside = !inside;
    else if (char === '\\' && inside) i += 1;
  }
  return inside ? 'inside' : 'outside';
}

export function afterBranches(...positions: Position[]): Position {
  const [first] = positions;
  return first !== undefined && positions.every((position) => position === first) ? first : 'unknown';
}
