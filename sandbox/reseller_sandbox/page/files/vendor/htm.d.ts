// The function of htm, which the page binds to Preact's.

declare const htm: {
  bind(make: Function): (strings: TemplateStringsArray, ...values: any[]) => any;
};

export default htm;
