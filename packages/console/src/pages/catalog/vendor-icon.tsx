import {
  siBrevo,
  siDiscord,
  siGoogleads,
  siGoogleanalytics,
  siGooglecampaignmanager360,
  siGoogledisplayandvideo360,
  siGooglemarketingplatform,
  siHubspot,
  siIntercom,
  siMatomo,
  siMeta,
  siMixpanel,
  siPinterest,
  siPostgresql,
  siPosthog,
  siRakuten,
  siReddit,
  siSnapchat,
  siSnowflake,
  siTiktok,
  siX,
} from 'simple-icons';
import classes from './catalog.module.css';

/** By the vendor's key. Imported one by one: the package holds thousands. */
const ICONS: Readonly<Record<string, { path: string }>> = {
  brevo: siBrevo,
  campaign_manager_360: siGooglecampaignmanager360,
  discord: siDiscord,
  display_video_360: siGoogledisplayandvideo360,
  google_ads: siGoogleads,
  google_analytics_4: siGoogleanalytics,
  google_data_manager: siGooglemarketingplatform,
  hubspot: siHubspot,
  intercom: siIntercom,
  matomo: siMatomo,
  meta_conversions_api: siMeta,
  mixpanel: siMixpanel,
  pinterest: siPinterest,
  posthog: siPosthog,
  postgresql: siPostgresql,
  rakuten: siRakuten,
  reddit: siReddit,
  snapchat: siSnapchat,
  snowflake: siSnowflake,
  tiktok_events_api: siTiktok,
  x: siX,
};

/** The vendor's mark in one colour, or two letters of its name; the name itself stands beside it. */
export function VendorIcon({ vendor, name }: { vendor: string; name: string }) {
  const icon = Object.hasOwn(ICONS, vendor) ? ICONS[vendor] : undefined;
  const letters = name
    .split(/[\s-]+/)
    .slice(0, 2)
    .map((word) => word.charAt(0))
    .join('');
  return (
    <span className={classes.icon} aria-hidden>
      {icon === undefined ? (
        letters
      ) : (
        <svg viewBox="0 0 24 24" width={15} height={15} fill="currentColor" aria-hidden="true">
          <path d={icon.path} />
        </svg>
      )}
    </span>
  );
}
