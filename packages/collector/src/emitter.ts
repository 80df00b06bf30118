/** `_df.on(name, handler)`: `track page identify group consent`, and `error` for an event that was given up. */
import { attempt } from './page.ts';

const handlers: [name: string, handler: (data: unknown) => void][] = [];

export const on = (name: string, handler: (data: unknown) => void) => {
  handlers.push([name, handler]);
};
export const emit = (name: string, data: unknown) => {
  for (const [wanted, handler] of handlers) if (wanted === name) attempt(() => handler(data));
};
