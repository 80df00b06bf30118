/** The session of this page. */
import { createSession } from './create-session.ts';

export { type Role, type SessionState, type User, userOf } from './create-session.ts';

export const session = createSession(new BroadcastChannel('firsthand-session'));
