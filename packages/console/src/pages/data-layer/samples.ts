/** Events to see the settings on: each shows steps that the others pass without a change. */
import { SAMPLE_BODY } from '../../sample-event.ts';

export interface EarlierEvent {
  minutes_ago: number;
  body: object;
}
interface Sample {
  label: string;
  body: object;
  /** What the visitor did before: identity, click ids and sessions depend on it. */
  earlier: readonly EarlierEvent[];
}
export type SampleKey = 'order' | 'crawler' | 'returning';

const { userId: _user, traits: _traits, context, ...anonymousOrder } = SAMPLE_BODY;
const consent = { categories: { necessary: true, statistics: true, marketing: true, advertising: true } };
const page = { url: 'https://shop.example/thank-you', title: 'Thank you' };
const landing = { url: 'https://shop.example/?gclid=Cj0KCQabc&fbclid=IwAR0abc&utm_source=google', title: 'Shop' };
const ofVisitor = { anonymousId: SAMPLE_BODY.anonymousId, context: { ...context, consent, page: landing } };

export const SAMPLES: Record<SampleKey, Sample> = {
  order: { label: 'An order', body: SAMPLE_BODY, earlier: [] },
  crawler: {
    label: 'A crawler’s page view',
    body: {
      type: 'page',
      anonymousId: 'a-crawler',
      context: { ip: '66.249.66.1', userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', page: landing },
    },
    earlier: [],
  },
  returning: {
    label: 'An order of a visitor who came back',
    body: { ...anonymousOrder, context: { ...context, consent, page } },
    earlier: [
      { minutes_ago: 2_880, body: { ...ofVisitor, type: 'identify', userId: SAMPLE_BODY.userId, traits: SAMPLE_BODY.traits } },
      { minutes_ago: 45, body: { ...ofVisitor, type: 'page', context: { ...context, consent, page } } },
    ],
  },
};
export const ABOUT_EARLIER = 'Two days ago they clicked an ad and signed in; 45 minutes ago they looked at a page.';
export const isSample = (key: string | undefined): key is SampleKey => key !== undefined && Object.hasOwn(SAMPLES, key);
