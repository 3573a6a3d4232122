// What the page uses of Preact, with any properties and any state.

export declare class Component {
  constructor(props?: any);
  props: any;
  state: any;
  context: any;
  setState(changed: object, then?: () => void): void;
  componentDidUpdate(before: any): void;
}

export declare function h(type: any, props: any, ...children: any[]): any;

export declare function render(elements: any, place: Element): void;
