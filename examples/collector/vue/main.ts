import { createApp } from 'vue';
import App from './App.vue';
import { collector } from './collector';

createApp(App).provide('collector', collector).mount('#app');
