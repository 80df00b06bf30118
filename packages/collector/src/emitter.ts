/** `_df.on(name, handler)`: `track page identify group consent`, and `error` for a discarded event. */
import { attempt } from './page.ts';

type Handler = [name: string, handler: (data: unknown) => void];
const handlers: Handler[] = [];

export const on = (...handler: Handler) => handlers.push(handler);
export const emit = (name: string | false | undefined, data: unknown) => {
  for (const [wanted, handler] of handlers) if (wanted === name) attempt(() => handler(data));
};
