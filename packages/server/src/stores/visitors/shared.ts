/** Visitors that another thread keeps. */
import type { ThreadLink } from '../../runtime/thread-link.ts';
import type { VisitorStore } from './port.ts';

const METHODS = ['load', 'save', 'replace', 'erase', 'sweep'] as const;

export function shareVisitors(link: ThreadLink, visitors: VisitorStore): void {
  for (const method of METHODS)
    link.answer(`visitors.${method}`, (args: unknown[]) => (visitors[method] as (...args: unknown[]) => Promise<unknown>)(...args));
}

export function sharedVisitors(link: ThreadLink): VisitorStore {
  return {
    load: (...args) => link.call('visitors.load', args),
    save: (...args) => link.call('visitors.save', args),
    replace: (...args) => link.call('visitors.replace', args),
    erase: (...args) => link.call('visitors.erase', args),
    sweep: (...args) => link.call('visitors.sweep', args),
    close: async () => undefined,
  };
}
